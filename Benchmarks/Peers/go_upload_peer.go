// Go's mime/multipart and net/http as a peer; README.md has the protocol.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		fmt.Printf("mime/multipart and net/http of %s\n", runtime.Version())
		return
	}
	if len(os.Args) < 3 {
		log.Fatal("usage: go-upload URL FILE...")
	}
	rounds := bufio.NewScanner(os.Stdin)
	for rounds.Scan() {
		started := time.Now()
		if err := upload(os.Args[1], os.Args[2:]); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("{\"seconds\": %.9f, \"parts\": %d}\n", time.Since(started).Seconds(), len(os.Args)-2)
	}
}

// A file that is opened when it is its turn: io.MultiReader takes one reader after the other.
type lazyFile struct {
	path string
	file *os.File
}

func (lazy *lazyFile) Read(into []byte) (count int, err error) {
	if lazy.file == nil {
		if lazy.file, err = os.Open(lazy.path); err != nil {
			return 0, err
		}
	}
	count, err = lazy.file.Read(into)
	if err != nil {
		lazy.file.Close()
	}
	return count, err
}

// With an exact Content-Length, which a pipe between the writer and the request cannot have, and without the
// copies that it makes.
func upload(url string, paths []string) error {
	var rendered bytes.Buffer
	writer := multipart.NewWriter(&rendered)
	var readers []io.Reader
	var length int64
	takeRendered := func() {
		readers = append(readers, bytes.NewReader(append([]byte(nil), rendered.Bytes()...)))
		length += int64(rendered.Len())
		rendered.Reset()
	}
	for _, path := range paths {
		if _, err := writer.CreateFormFile("file", filepath.Base(path)); err != nil {
			return err
		}
		takeRendered()
		status, err := os.Stat(path)
		if err != nil {
			return err
		}
		readers = append(readers, &lazyFile{path: path})
		length += status.Size()
	}
	if err := writer.Close(); err != nil {
		return err
	}
	takeRendered()
	request, err := http.NewRequest("POST", url, io.MultiReader(readers...))
	if err != nil {
		return err
	}
	request.ContentLength = length
	request.Header.Set("Content-Type", writer.FormDataContentType())
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the receiver answers %s", response.Status)
	}
	return nil
}
