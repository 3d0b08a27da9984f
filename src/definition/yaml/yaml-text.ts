import { stringify } from 'yaml';
import { HomeostatError } from '../../util/homeostat-error.ts';
import type { Json } from '../../util/json.ts';
import { readDocuments } from './read-documents.ts';

/** Invalid YAML, or YAML that JSON cannot represent. The message includes line and column. */
export class YamlError extends HomeostatError<'yaml-syntax'> {}

/**
 * Parses one YAML (1.2) or JSON document to plain JSON. Empty input is null.
 * @throws YamlError for syntax errors, several documents, and values that JSON cannot represent.
 */
export function parseYaml(text: string): Json {
  const documents = parseYamlDocuments(text);
  if (documents.length > 1) {
    throw new YamlError('yaml-syntax', `Expected one YAML document, found "${documents.length}"`);
  }
  return documents[0] ?? null;
}

/**
 * Parses all non-empty documents.
 * @throws YamlError for syntax errors and values that JSON cannot represent.
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
 * Prints plain JSON as YAML that parsers of YAML 1.1 and 1.2 read alike: block style, sorted keys, no line folding.
 * Equal values produce equal output, which ends with a newline.
 */
export function printYaml(value: unknown): string {
  return stringify(value, { ...style, sortMapEntries: true });
}

/** As {@link printYaml}, with keys in their order: for files that users edit. */
export function printOrderedYaml(value: unknown): string {
  return stringify(value, style);
}

const style = { compat: 'yaml-1.1', lineWidth: 0, aliasDuplicateObjects: false } as const;
