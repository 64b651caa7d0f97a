package criwire

// What Write and Read do to any message that has the field, or not yet.
var (
	WriteMessage = writeMessage
	ReadMessage  = readMessage
)
