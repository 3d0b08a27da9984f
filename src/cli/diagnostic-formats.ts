import type { Diagnostic } from '../definition/index.ts';
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

/** SARIF 2.1.0, for the code scanning of a forge. Files are paths as the user wrote them. */
export function sarifReport({ diagnostics }: ValidationResult): string {
  const codes = [...new Set(diagnostics.map(({ code }) => code))].sort();
  const run = {
    tool: { driver: { name: 'homeostat', version, rules: codes.map((id) => ({ id })) } },
    results: diagnostics.map((diagnostic) => ({
      ruleId: diagnostic.code,
      ruleIndex: codes.indexOf(diagnostic.code),
      level: diagnostic.severity,
      message: { text: textOf(diagnostic) },
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: diagnostic.file },
            region: { startLine: diagnostic.line, startColumn: diagnostic.column },
          },
        },
      ],
    })),
  };
  const schema = 'https://json.schemastore.org/sarif-2.1.0.json';
  return JSON.stringify({ $schema: schema, version: '2.1.0', runs: [run] }, undefined, 2);
}

/** Workflow commands of GitHub Actions: each diagnostic is shown at its line of the change. */
export function githubReport({ diagnostics }: ValidationResult): string {
  return diagnostics
    .map((diagnostic) => {
      const { severity, code, file, line, column } = diagnostic;
      const properties = `file=${escapeProperty(file)},line=${line},col=${column},title=${escapeProperty(code)}`;
      return `::${severity} ${properties}::${escapeData(textOf(diagnostic))}`;
    })
    .join('\n');
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
