// Command release packs what scripts/release.sh has built: an archive for each target,
// with the licences of the libraries that are linked and an SBOM, and the checksums of
// all. The same files give the same bytes.
//
//	release -version 1.2.3 -time 1767225600 -programs bin -texts texts -out dist
//
//	bin/linux-amd64/robotsbatch   → dist/robotsbatch-1.2.3-linux-amd64.tar.gz
//	bin/windows-amd64/robotsbatch.exe → dist/robotsbatch-1.2.3-windows-amd64.zip
//	texts/…                       → in each of them
//	                                dist/SHA256SUMS
package main
