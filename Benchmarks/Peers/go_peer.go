// Go's mime/multipart as a peer; README.md has the protocol.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log"
	"mime/multipart"
	"os"
	"runtime"
	"time"
)

const chunkSize = 64 * 1024

func main() {
	log.SetFlags(0)
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		fmt.Printf("mime/multipart of %s\n", runtime.Version())
		return
	}
	if len(os.Args) != 3 {
		log.Fatal("usage: go BODY BOUNDARY")
	}
	body, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	rounds := bufio.NewScanner(os.Stdin)
	for rounds.Scan() {
		started := time.Now()
		parts, size, err := parse(body, os.Args[2])
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("{\"seconds\": %.9f, \"parts\": %d, \"bytes\": %d}\n", time.Since(started).Seconds(), parts, size)
	}
}

// A reader that gives no more than a chunk at a time, and has no other methods that might be taken instead.
type chunks struct{ body *bytes.Reader }

func (source chunks) Read(into []byte) (int, error) {
	return source.body.Read(into[:min(len(into), chunkSize)])
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}

func parse(body []byte, boundary string) (parts int, size int64, err error) {
	reader := multipart.NewReader(chunks{bytes.NewReader(body)}, boundary)
	for {
		// Not NextPart, which decodes quoted-printable.
		part, err := reader.NextRawPart()
		if err == io.EOF {
			return parts, size, nil
		}
		if err != nil {
			return parts, size, err
		}
		count, err := io.Copy(io.Discard, part)
		if err != nil {
			return parts, size, err
		}
		parts++
		size += count
	}
}
