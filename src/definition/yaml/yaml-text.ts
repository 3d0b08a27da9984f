import { stringify } from 'yaml';
import { HomeostatError } from '../../util/homeostat-error.ts';
import type { Json } from '../../util/json.ts';
import { readDocuments } from './read-documents.ts';

/** A text that is no YAML, or says what JSON cannot. The message names the line and the column. */
export class YamlError extends HomeostatError<'yaml-syntax'> {}

/**
 * Reads one YAML (1.2) or JSON document into plain JSON. An empty text is null.
 * @throws YamlError for syntax errors, several documents, and values that JSON has no word for.
 */
export function parseYaml(text: string): Json {
  const documents = parseYamlDocuments(text);
  if (documents.length > 1) {
    throw new YamlError('yaml-syntax', `Expected one YAML document, found "${documents.length}"`);
  }
  return documents[0] ?? null;
}

/**
 * Reads all documents of a text, without empty ones.
 * @throws YamlError for syntax errors and values that JSON has no word for.
 */
export function parseYamlDocuments(text: string): readonly Json[] {
  const { documents, syntaxErrors } = readDocuments(text, '');
  const [error] = syntaxErrors;
  if (error === undefined) return documents.map(({ value }) => value);
  const { line, column, message } = error;
  throw new YamlError(
    'yaml-syntax',
    `Cannot read YAML at line ${line}, column ${column}: ${message}`,
  );
}

/**
 * Writes plain JSON as YAML that readers of YAML 1.1 and 1.2 understand alike: block style, keys sorted, long lines kept.
 * Equal values give equal text, which ends in a newline.
 */
export function printYaml(value: unknown): string {
  return stringify(value, {
    compat: 'yaml-1.1',
    lineWidth: 0,
    sortMapEntries: true,
    aliasDuplicateObjects: false,
  });
}
