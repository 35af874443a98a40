package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"os"
	"strings"

	"robotsbatch/io/store/compress"
)

// makeWARC is the program mkwarc of the test scripts. It writes a WARC file of
// responses, each described by a line: time, URL, status, and the body with "\n"
// for line ends or, of a redirect, the Location.
func makeWARC() {
	out := flag.String("o", "", "file to write")
	gz := flag.Bool("gz", false, "gzip, a member a record")
	zst := flag.Bool("zst", false, "zstd, a frame a record")
	cut := flag.Int("cut", 0, "bytes to cut off the end")
	flag.Parse()
	lines, err := os.ReadFile(flag.Arg(0))
	if err != nil {
		log.Fatal(err)
	}
	var file []byte
	for line := range strings.Lines(string(lines)) {
		record := warcRecord(strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 4))
		codec := compress.None
		if *gz {
			codec = compress.Gzip
		} else if *zst {
			codec = compress.Zstd
		}
		if codec == compress.None {
			file = append(file, record...)
		} else if file, err = compress.AppendCompressed(file, record, codec); err != nil {
			log.Fatal(err)
		}
	}
	if err := os.WriteFile(*out, file[:len(file)-*cut], 0o666); err != nil {
		log.Fatal(err)
	}
}

func warcRecord(fields []string) []byte {
	var block bytes.Buffer
	fmt.Fprintf(&block, "HTTP/1.1 %s\r\n", fields[2])
	if strings.HasPrefix(fields[2], "3") {
		fmt.Fprintf(&block, "Location: %s\r\n\r\n", fields[3])
	} else {
		body := strings.ReplaceAll(fields[3], `\n`, "\n")
		fmt.Fprintf(&block, "Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	return fmt.Appendf(nil, "WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: %s\r\nWARC-Target-URI: %s\r\n"+
		"Content-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", fields[0], fields[1], block.Len(), block.String())
}
