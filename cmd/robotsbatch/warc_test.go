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
// for line ends or, of a redirect, the Location. The id of a record is "id:TIME URL", and the
// digest of a body is "text:" and the body as in the line. The status "revisit" makes a
// revisit, without a block, with the fields of its header separated by "|" as body, and "revisit-STATUS" one with
// an HTTP header of that status.
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
	if status, is := strings.CutPrefix(fields[2], "revisit"); is {
		if status != "" {
			fmt.Fprintf(&block, "HTTP/1.1 %s\r\n\r\n", status[1:])
		}
		return warcBlock("revisit", strings.ReplaceAll(fields[3], "|", "\r\n"), fields, block.Bytes())
	}
	fmt.Fprintf(&block, "HTTP/1.1 %s\r\n", fields[2])
	if strings.HasPrefix(fields[2], "3") {
		fmt.Fprintf(&block, "Location: %s\r\n\r\n", fields[3])
	} else {
		body := strings.ReplaceAll(fields[3], `\n`, "\n")
		fmt.Fprintf(&block, "Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	return warcBlock("response", "WARC-Payload-Digest: text:"+strings.ReplaceAll(fields[3], "\n", `\n`), fields, block.Bytes())
}

func warcBlock(kind, more string, fields []string, block []byte) []byte {
	return fmt.Appendf(nil, "WARC/1.0\r\nWARC-Type: %s\r\nWARC-Record-ID: <id:%[2]s %[3]s>\r\nWARC-Date: %[2]s\r\nWARC-Target-URI: %[3]s\r\n%s\r\n"+
		"Content-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", kind, fields[0], fields[1], more, len(block), block)
}
