// Package outputs writes the outputs of a job. It chooses and opens their formats
// ([Options]) and keeps them whole: only one run at a time writes an output ([Claim]),
// and it appears only when complete. Several outputs of a folder become durable at once
// ([Chain]). A manifest records each output ([Record]), so that a later run can
// resume.
package outputs
