#!/usr/bin/env bash
# js-yaml 5.5.0 and yaml 2.8.1 beside sigs.k8s.io/yaml v1.6.0, which kubectl reads manifests with: a file mode that is
# written as in a shell, 0400, is another number, and so are some bare words.
# A guess would be: a manifest has one meaning, so a program that parses it and sends JSON does as `kubectl apply` does.
# Seen on 2026-11-29: `defaultMode: 0400`, the usual mode of a mounted Secret, is 256 for kubectl, and 400 for both
# libraries of npm (YAML 1.2 has no such octal numbers). 400 is octal 620: it is in the range that a server accepts, and
# the group may write the files. `on`, `yes` and `1_000` are a boolean, a boolean and a number for kubectl, and strings
# for the libraries. `0o400` is 256 for all three.
set -euo pipefail
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent js-yaml@5.5.0 yaml@2.8.1
cat >manifest.yaml <<'YAML'
defaultMode: 0400
mode: 0o400
enabled: on
optional: yes
replicas: 1_000
YAML
cat >read.mjs <<'JS'
import { readFileSync } from "node:fs";
import { load } from "js-yaml";
import { parse } from "yaml";
const text = readFileSync("manifest.yaml", "utf8");
const sorted = (value) => JSON.stringify(Object.fromEntries(Object.entries(value).sort()));
console.log("js-yaml:", sorted(load(text)));
console.log("yaml:   ", sorted(parse(text)));
JS
cat >main.go <<'GO'
package main

import (
	"fmt"
	"os"

	"sigs.k8s.io/yaml"
)

func main() {
	text, err := os.ReadFile("manifest.yaml")
	if err != nil {
		panic(err)
	}
	json, err := yaml.YAMLToJSON(text)
	if err != nil {
		panic(err)
	}
	fmt.Println("kubectl:", string(json))
}
GO
go mod init probe >go.log 2>&1
go get sigs.k8s.io/yaml@v1.6.0 >>go.log 2>&1
{
  node read.mjs
  go run .
} | tee seen
diff seen - <<'EXPECTED'
js-yaml: {"defaultMode":400,"enabled":"on","mode":256,"optional":"yes","replicas":"1_000"}
yaml:    {"defaultMode":400,"enabled":"on","mode":256,"optional":"yes","replicas":"1_000"}
kubectl: {"defaultMode":256,"enabled":true,"mode":256,"optional":true,"replicas":1000}
EXPECTED
