import { isAbsolute, normalize, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Diagnostic } from '#definition';
import { version } from './version.ts';

/** A definition without errors. */
export interface ValidDefinition {
  readonly file: string;
  readonly name: string;
  readonly revision: string;
}

export interface ValidationResult {
  readonly diagnostics: readonly Diagnostic[];
  readonly definitions: readonly ValidDefinition[];
}

/** One JSON object with all diagnostics and all valid definitions. */
export function jsonReport({ diagnostics, definitions }: ValidationResult): string {
  return JSON.stringify({ diagnostics, definitions }, undefined, 2);
}

/** SARIF 2.1.0, for the code scanning of a forge. Files are URIs, relative to the folder of the process where they are below it. */
export function sarifReport({ diagnostics }: ValidationResult, folder = process.cwd()): string {
  const codes = [...new Set(diagnostics.map(({ code }) => code))].sort();
  const run = {
    tool: { driver: { name: 'homeostat', version, rules: codes.map((id) => ({ id })) } },
    columnKind: 'utf16CodeUnits',
    results: diagnostics.map((diagnostic) => ({
      ruleId: diagnostic.code,
      ruleIndex: codes.indexOf(diagnostic.code),
      level: diagnostic.severity,
      message: { text: textOf(diagnostic) },
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: uriOf(placeOf(diagnostic.file, folder)) },
            region: { startLine: diagnostic.line, startColumn: diagnostic.column },
          },
        },
      ],
    })),
  };
  const schema = 'https://json.schemastore.org/sarif-2.1.0.json';
  return JSON.stringify({ $schema: schema, version: '2.1.0', runs: [run] }, undefined, 2);
}

/** Workflow commands of GitHub Actions: each diagnostic is shown at its line of the change. Files as in {@link sarifReport}. */
export function githubReport({ diagnostics }: ValidationResult, folder = process.cwd()): string {
  return diagnostics
    .map((diagnostic) => {
      const { severity, code, line, column } = diagnostic;
      const file = escapeProperty(placeOf(diagnostic.file, folder));
      const properties = `file=${file},line=${line},col=${column},title=${escapeProperty(code)}`;
      return `::${severity} ${properties}::${escapeData(textOf(diagnostic))}`;
    })
    .join('\n');
}

/** A file as a forge finds it: without `./`, and an absolute path below the folder without the folder. */
function placeOf(file: string, folder: string): string {
  const below = relative(folder, file);
  return isAbsolute(file) && !below.startsWith('..') ? below : normalize(file);
}

function uriOf(file: string): string {
  if (isAbsolute(file)) return pathToFileURL(file).href;
  return file.split('/').map(encodeURIComponent).join('/');
}

function textOf({ message, hint }: Diagnostic): string {
  return hint === undefined ? message : `${message}\nHint: ${hint}`;
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
