// Sends forms with Go's mime/multipart.
//
//	go_client {URL FORM}...
package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"os"
	"strings"
)

// What CreateFormFile does with names; it has no say over the type, so the part is made as it makes it.
var quoteEscaper = strings.NewReplacer("\\", "\\\\", `"`, "\\\"")

func main() {
	log.SetFlags(0)
	jobs := os.Args[1:]
	for index := 0; index+1 < len(jobs); index += 2 {
		if err := send(jobs[index], jobs[index+1]); err != nil {
			log.Fatalf("%s: %v", jobs[index], err)
		}
	}
}

func send(url string, form string) error {
	reader, writer := io.Pipe()
	encoder := multipart.NewWriter(writer)
	go func() { writer.CloseWithError(encode(encoder, form)) }()
	response, err := http.Post(url, encoder.FormDataContentType(), reader)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the answer is %s", response.Status)
	}
	return nil
}

func encode(encoder *multipart.Writer, form string) error {
	file, err := os.Open(form)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		for index, word := range words[1:] {
			if word == "=" {
				word = ""
			}
			text, err := base64.StdEncoding.DecodeString(word)
			if err != nil {
				return err
			}
			words[index+1] = string(text)
		}
		if words[0] == "text" {
			err = encoder.WriteField(words[1], words[2])
		} else {
			err = addFile(encoder, words[1], words[2], words[3], words[4])
		}
		if err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return encoder.Close()
}

func addFile(encoder *multipart.Writer, name, filename, contentType, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	var part io.Writer
	if contentType == "application/octet-stream" {
		part, err = encoder.CreateFormFile(name, filename)
	} else {
		header := textproto.MIMEHeader{}
		header.Set("Content-Disposition", fmt.Sprintf(`form-data; name="%s"; filename="%s"`,
			quoteEscaper.Replace(name), quoteEscaper.Replace(filename)))
		header.Set("Content-Type", contentType)
		part, err = encoder.CreatePart(header)
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(part, file)
	return err
}
