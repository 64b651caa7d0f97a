// Package demo tells the main story on a running stack: who ran what. Each scene
// is one file: it says what it is about to show, does it with the real kubectl,
// and checks it. The demo holds only if every scene does.
package demo
