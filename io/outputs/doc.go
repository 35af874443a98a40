// Package outputs writes the outputs of a job, whose formats it chooses and opens
// ([Options]), and keeps them whole: one run at a time writes an output ([Claim]), it
// appears when it is complete, several of a folder become durable at once ([Publisher]),
// and a manifest records each ([Record]), from which a later run resumes.
package outputs
