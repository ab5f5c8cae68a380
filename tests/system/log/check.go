// SPDX-License-Identifier: LGPL-2.1-or-later

// check reads what `dealbox log` writes with golang.org/x/mod/sumdb, and writes the same by itself.
//
//	check head KEY CERTIFICATES HEAD                  the head is that of the certificates
//	check leaf KEY CERTIFICATES PROOF                 a tlog-proof of one certificate
//	check since KEY CERTIFICATES HEAD PROOF           PROOF continues HEAD
//	check cosigned KEY HEAD                           by a witness
//	check sign SEED ORIGIN CERTIFICATES COUNT         write the head of the first COUNT certificates
//	check prove CERTIFICATES HEAD INDEX               write a tlog-proof
//	check proveSince CERTIFICATES HEAD OLD            write a proof that HEAD continues OLD leaves
package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		os.Exit(1)
	}
}

func want(good bool, what string) {
	if !good {
		must(fmt.Errorf("wrong: %s", what))
	}
}

func read(path string) []byte {
	data, err := os.ReadFile(path)
	must(err)
	return data
}

// leaves splits a file of certificates behind each line "signature".
func leaves(path string) [][]byte {
	var list [][]byte
	data := read(path)
	for len(data) > 0 {
		at := bytes.Index(data, []byte("\nsignature ")) + 1
		end := at + bytes.IndexByte(data[at:], '\n') + 1
		list = append(list, data[:end])
		data = data[end:]
	}
	return list
}

// stored returns a log of these leaves.
func stored(list [][]byte) tlog.HashReader {
	var hashes []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		var found []tlog.Hash
		for _, index := range indexes {
			found = append(found, hashes[index])
		}
		return found, nil
	})
	for n, leaf := range list {
		more, err := tlog.StoredHashes(int64(n), leaf, reader)
		must(err)
		hashes = append(hashes, more...)
	}
	return reader
}

type head struct {
	origin string
	tree   tlog.Tree
}

// parse reads the text of a head whose signatures were checked.
func parse(text string) head {
	lines := strings.Split(text, "\n")
	want(len(lines) >= 4, "lines of a head")
	size, err := strconv.ParseInt(lines[1], 10, 64)
	must(err)
	root, err := tlog.ParseHash(lines[2])
	must(err)
	return head{lines[0], tlog.Tree{N: size, Hash: root}}
}

func open(data []byte, key string) head {
	verifier, err := note.NewVerifier(key)
	must(err)
	opened, err := note.Open(data, note.VerifierList(verifier))
	must(err)
	return parse(opened.Text)
}

// split takes a proof apart: the words of its first lines, hashes, and the head behind.
func split(data []byte) (first []string, hashes []tlog.Hash, checkpoint []byte) {
	at := bytes.Index(data, []byte("\n\n"))
	want(at > 0, "no empty line")
	for _, line := range strings.Split(string(data[:at]), "\n") {
		if hash, err := tlog.ParseHash(line); err == nil {
			hashes = append(hashes, hash)
		} else {
			first = append(first, line)
		}
	}
	return first, hashes, data[at+2:]
}

// cosigner checks signatures of tlog-cosignature, version 1.
type cosigner struct {
	name string
	hash uint32
	key  ed25519.PublicKey
}

func (c cosigner) Name() string    { return c.name }
func (c cosigner) KeyHash() uint32 { return c.hash }
func (c cosigner) Verify(text, signature []byte) bool {
	if len(signature) != 8+ed25519.SignatureSize {
		return false
	}
	message := fmt.Sprintf("cosignature/v1\ntime %d\n%s", binary.BigEndian.Uint64(signature), text)
	return ed25519.Verify(c.key, []byte(message), signature[8:])
}

func newCosigner(text string) cosigner {
	parts := strings.SplitN(text, "+", 3)
	want(len(parts) == 3, "key of a witness")
	key, err := base64.StdEncoding.DecodeString(parts[2])
	must(err)
	want(len(key) == 33 && key[0] == 4, "type of a witness's key")
	sum := sha256.Sum256(append([]byte(parts[0]+"\n"), key...))
	want(hex.EncodeToString(sum[:4]) == parts[1], "id of a witness's key")
	return cosigner{parts[0], binary.BigEndian.Uint32(sum[:4]), key[1:]}
}

func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	must(err)
	return n
}

func printProof(words string, hashes []tlog.Hash, checkpoint []byte) {
	fmt.Println(words)
	for _, hash := range hashes {
		fmt.Println(hash)
	}
	fmt.Printf("\n%s", checkpoint)
}

// text returns the head in a note without checking its signatures.
func text(data []byte) head {
	return parse(string(data[:bytes.LastIndex(data, []byte("\n\n"))+1]))
}

func main() {
	args := os.Args[2:]
	switch os.Args[1] {
	case "head":
		list := leaves(args[1])
		h := open(read(args[2]), args[0])
		root, err := tlog.TreeHash(h.tree.N, stored(list))
		must(err)
		want(root == h.tree.Hash, "root")
	case "leaf":
		first, hashes, checkpoint := split(read(args[2]))
		want(len(first) == 3 && first[0] == "c2sp.org/tlog-proof@v1", "first line")
		extra, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(first[1], "extra "))
		must(err)
		index := number(strings.TrimPrefix(first[2], "index "))
		want(bytes.Equal(extra, leaves(args[1])[index]), "certificate")
		h := open(checkpoint, args[0])
		must(tlog.CheckRecord(hashes, h.tree.N, h.tree.Hash, index, tlog.RecordHash(extra)))
	case "since":
		first, hashes, checkpoint := split(read(args[3]))
		before, h := open(read(args[2]), args[0]), open(checkpoint, args[0])
		want(first[0] == fmt.Sprintf("old %d", before.tree.N), "first line")
		must(tlog.CheckTree(hashes, h.tree.N, h.tree.Hash, before.tree.N, before.tree.Hash))
	case "cosigned":
		_, err := note.Open(read(args[1]), note.VerifierList(newCosigner(args[0])))
		must(err)
	case "sign":
		seed, err := hex.DecodeString(args[0])
		must(err)
		private := ed25519.NewKeyFromSeed(seed)
		public := append([]byte{1}, private.Public().(ed25519.PublicKey)...)
		sum := sha256.Sum256(append([]byte(args[1]+"\n"), public...))
		key := append([]byte{1}, seed...)
		signer, err := note.NewSigner(fmt.Sprintf("PRIVATE+KEY+%s+%x+%s", args[1], sum[:4],
			base64.StdEncoding.EncodeToString(key)))
		must(err)
		count := number(args[3])
		root, err := tlog.TreeHash(count, stored(leaves(args[2])))
		must(err)
		signed, err := note.Sign(&note.Note{Text: fmt.Sprintf("%s\n%d\n%s\n", args[1], count, root)}, signer)
		must(err)
		os.Stdout.Write(signed)
	case "prove":
		list, checkpoint, index := leaves(args[0]), read(args[1]), number(args[2])
		proof, err := tlog.ProveRecord(text(checkpoint).tree.N, index, stored(list))
		must(err)
		printProof(fmt.Sprintf("c2sp.org/tlog-proof@v1\nextra %s\nindex %d",
			base64.StdEncoding.EncodeToString(list[index]), index), proof, checkpoint)
	case "proveSince":
		list, checkpoint, old := leaves(args[0]), read(args[1]), number(args[2])
		proof, err := tlog.ProveTree(text(checkpoint).tree.N, old, stored(list))
		must(err)
		printProof(fmt.Sprintf("old %d", old), proof, checkpoint)
	}
}
