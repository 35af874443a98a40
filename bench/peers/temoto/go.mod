module temoto

go 1.26.0

require (
	github.com/temoto/robotstxt v1.1.2
	robotsbatch v0.0.0
)

replace robotsbatch => ../../..
