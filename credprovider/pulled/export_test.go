package pulled

// MaxRecordBytes is the largest record that is read.
const MaxRecordBytes = maxRecordBytes

// DecodeIntent returns the image of the intent in data.
func DecodeIntent(data []byte) (string, error) { return decodeIntent(data) }
