// Package stores links the drivers of the object stores that package blob can
// open: Amazon S3 and what speaks its protocol (s3://), Google Cloud Storage
// (gs://) and Azure Blob Storage (azblob://).
//
// It is for the programs that want them, which import it for its effect alone.
package stores
