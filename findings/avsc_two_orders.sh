#!/usr/bin/env bash
# In short:  compare() of two texts and compareBuffers() of the same two, encoded, say the opposite.
# Package:   avsc 5.7.9 (npm), Avro for JavaScript.
set -u
