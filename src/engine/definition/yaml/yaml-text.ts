import { type ScalarTag, stringify, type Tags } from 'yaml';
import { HomeostatError } from '#util/homeostat-error.ts';
import type { Json } from '#util/json.ts';
import { escapedJson, needsEscapes } from '#util/yaml-string.ts';
import { holdsOpenExpression } from './cut-expression.ts';
import { kubectlScalar } from './kubectl-scalars.ts';
import { readDocuments } from './read-documents.ts';
import type { YamlReading } from './scalar-value.ts';

/** Invalid YAML, or YAML that JSON cannot represent. The message includes line and column. */
export class YamlError extends HomeostatError<'yaml-syntax'> {}

/**
 * Parses one YAML or JSON document to plain JSON. Empty input is null.
 * @param reading 'kubectl' for what kubectl or a server may also read. @default YAML 1.2
 * @throws YamlError for syntax errors, several documents, and values that JSON cannot represent.
 */
export function parseYaml(text: string, reading: YamlReading = 'definition'): Json {
  const documents = parseYamlDocuments(text, reading);
  if (documents.length > 1) {
    throw new YamlError('yaml-syntax', `Expected one YAML document, found "${documents.length}"`);
  }
  return documents[0] ?? null;
}

/**
 * Parses all non-empty documents.
 * @throws YamlError for syntax errors and values that JSON cannot represent.
 */
export function parseYamlDocuments(
  text: string,
  reading: YamlReading = 'definition',
): readonly Json[] {
  const { documents, syntaxErrors } = readDocuments(text, '', reading);
  const [error] = syntaxErrors;
  if (error === undefined) return documents.map(({ value }) => value);
  const { line, column, message } = error;
  throw new YamlError(
    'yaml-syntax',
    `Cannot read YAML at line ${line}, column ${column}: ${message}`,
  );
}

/**
 * Prints plain JSON as YAML that kubectl and parsers of YAML 1.1 and 1.2 read alike: block style, sorted keys, no line folding.
 * Equal values produce equal output, which ends with a newline.
 */
export function printYaml(value: unknown): string {
  return stringify(value, { ...style, sortMapEntries: true });
}

/** As {@link printYaml}, with keys in their order: for files that users edit. */
export function printOrderedYaml(value: unknown): string {
  return stringify(value, style);
}

/** Strings that are read alike without quotes have none. */
function withQuotes(tag: ScalarTag): ScalarTag {
  const { stringify: printed } = tag;
  if (tag.tag !== 'tag:yaml.org,2002:str' || printed === undefined) return tag;
  return {
    ...tag,
    stringify(item, ...context) {
      const value = String(item.value);
      return needsQuotes(value) ? escapedJson(value) : printed(item, ...context);
    },
  };
}

function needsQuotes(value: string): boolean {
  if (needsEscapes(value) || typeof kubectlScalar(value) !== 'string') return true;
  return !value.includes('\n') && holdsOpenExpression(value);
}

const style = {
  compat: 'yaml-1.1',
  lineWidth: 0,
  aliasDuplicateObjects: false,
  customTags: (tags: Tags) => tags.map((tag) => (isScalarTag(tag) ? withQuotes(tag) : tag)),
} as const;

function isScalarTag(tag: Tags[number]): tag is ScalarTag {
  return typeof tag !== 'string' && tag.collection === undefined;
}
