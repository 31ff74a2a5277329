// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// HashOf returns the first 80 bits of the SHA-256 over the parts, in hex. Each part follows its length, so that no two
// lists of parts have the same encoding. Names and pod templates contain such hashes: a change of the encoding replaces
// pods.
func HashOf(parts ...string) string {
	digest := sha256.New()
	for _, part := range parts {
		// Hashes never return an error.
		_, _ = fmt.Fprintf(digest, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(digest.Sum(nil)[:10])
}
