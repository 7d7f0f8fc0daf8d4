import type { Parameters } from './form.ts'

/** Languages of the samples, by the names that people know. */
export const languages = { curl: 'curl', typescript: 'TypeScript', python: 'Python', go: 'Go', php: 'PHP' } as const

/** A language of the samples. */
export type Language = keyof typeof languages

type Request = { readonly baseUrl: string; readonly parameters: Parameters }

const keyName = 'SHUTTERFLEET_API_KEY'
const path = '/v1/screenshots/capture'

const fileOf = ({ format }: Parameters) => `page.${typeof format === 'string' ? format : 'png'}`

const json = (value: unknown) => JSON.stringify(value, undefined, 2)

const shellText = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

const curl = ({ baseUrl, parameters }: Request) => `curl --fail-with-body ${shellText(baseUrl + path)} \\
  -H "Authorization: Bearer $${keyName}" \\
  -H 'Content-Type: application/json' \\
  -d ${shellText(json(parameters))} \\
  -o ${fileOf(parameters)}`

const typescript = ({ baseUrl, parameters }: Request) => `import { writeFile } from 'node:fs/promises'
import { Shutterfleet } from '@shutterfleet/client'

const shots = new Shutterfleet({ baseUrl: ${JSON.stringify(baseUrl)}, apiKey: process.env.${keyName} ?? '' })
const image = await shots.capture(${json(parameters)})
await writeFile('${fileOf(parameters)}', image.bytes)`

/** A value with its parts on lines of their own, indented by `indent`. */
type Literal = (value: unknown, indent?: string) => string

const literal = (style: {
  readonly text: (text: string) => string
  readonly words: { readonly true: string; readonly false: string; readonly null: string }
  readonly entry: (key: string) => string
  readonly object: readonly [open: string, close: string]
}): Literal => {
  const group = ([open, close]: readonly [string, string], lines: readonly string[], indent: string) =>
    lines.length === 0
      ? open + close
      : `${open}\n${lines.map((line) => `${indent}    ${line},\n`).join('')}${indent}${close}`
  const write: Literal = (value, indent = '') => {
    const inner = `${indent}    `
    if (typeof value === 'string') return style.text(value)
    if (Array.isArray(value))
      return group(
        ['[', ']'],
        value.map((each) => write(each, inner)),
        indent,
      )
    if (typeof value === 'object' && value !== null)
      return group(
        style.object,
        Object.entries(value).map(([key, each]) => style.entry(key) + write(each, inner)),
        indent,
      )
    if (value === true || value === false || value === null) return style.words[`${value}`]
    return JSON.stringify(value)
  }
  return write
}

const pythonLiteral = literal({
  text: (text) => JSON.stringify(text),
  words: { true: 'True', false: 'False', null: 'None' },
  entry: (key) => `${JSON.stringify(key)}: `,
  object: ['{', '}'],
})

const python = ({ baseUrl, parameters }: Request) => `import json
import os
import urllib.request

parameters = ${pythonLiteral(parameters)}
request = urllib.request.Request(
    ${JSON.stringify(baseUrl + path)},
    data=json.dumps(parameters).encode(),
    headers={
        "Authorization": f"Bearer {os.environ['${keyName}']}",
        "Content-Type": "application/json",
    },
)
with urllib.request.urlopen(request, timeout=150) as image, open("${fileOf(parameters)}", "wb") as out:
    out.write(image.read())`

const goText = (text: string) => (text.includes('`') || text.includes('\r') ? JSON.stringify(text) : `\`${text}\``)

const go = ({ baseUrl, parameters }: Request) => `package main

import (
	"io"
	"log"
	"net/http"
	"os"
	"strings"
)

const parameters = ${goText(json(parameters))}

func main() {
	request, err := http.NewRequest("POST", ${JSON.stringify(baseUrl + path)}, strings.NewReader(parameters))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("${keyName}"))
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	image, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		log.Fatal(answer.Status, " ", string(image), err)
	}
	if err := os.WriteFile("${fileOf(parameters)}", image, 0o644); err != nil {
		log.Fatal(err)
	}
}`

const phpText = (text: string) => `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`

const phpLiteral = literal({
  text: phpText,
  words: { true: 'true', false: 'false', null: 'null' },
  entry: (key) => `${phpText(key)} => `,
  object: ['[', ']'],
})

const php = ({ baseUrl, parameters }: Request) => `<?php
$parameters = ${phpLiteral(parameters)};
$request = curl_init(${phpText(baseUrl + path)});
curl_setopt_array($request, [
    CURLOPT_POST => true,
    CURLOPT_POSTFIELDS => json_encode($parameters),
    CURLOPT_HTTPHEADER => [
        'Authorization: Bearer ' . getenv('${keyName}'),
        'Content-Type: application/json',
    ],
    CURLOPT_RETURNTRANSFER => true,
]);
$image = curl_exec($request);
if (curl_getinfo($request, CURLINFO_RESPONSE_CODE) !== 200) {
    throw new RuntimeException((string) $image);
}
file_put_contents('${fileOf(parameters)}', $image);`

const writers: Readonly<Record<Language, (request: Request) => string>> = { curl, typescript, python, go, php }

/** A complete program that sends a synchronous capture request and stores its image. */
export const sampleOf = (language: Language, request: Request): string => writers[language](request)
