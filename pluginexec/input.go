package pluginexec

import "os"

// minPipe is the least that a pipe holds on any system, in bytes.
const minPipe = 4 << 10 // 4 KiB

// prefilled returns the reading end of a pipe that holds data already, so that nobody has to be there to write it; nil
// when there is no data or it may not fit.
func prefilled(data []byte) (*os.File, error) {
	if len(data) == 0 || len(data) > minPipe {
		return nil, nil
	}
	r, w, err := blockingPipe()
	if err != nil {
		return nil, err
	}
	_, err = w.Write(data)
	if closed := w.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = r.Close()
		return nil, err
	}
	return r, nil
}
