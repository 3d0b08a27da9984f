import { isJsonObject, type Json, type JsonObject, pointerTo } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { type Diagnostic, type Finding, locate, type SourceMap } from '../finding.ts';
import { arrangeDiagnostics } from '../parse-definitions.ts';
import { describeFound, itemsAt } from '../tree.ts';
import { readBoundedDocuments } from './read-documents.ts';

/** An object of a file, such as a sample, with the positions of its fields. */
export interface LocatedObject {
  readonly object: KubeObject;
  /** JSON pointer of the object in its document: an item of a `List` is not the whole document. */
  readonly pointer: string;
  readonly source: SourceMap;
}

export interface ReadObjects {
  /** The objects without an error, those of a `List` one by one. */
  readonly objects: readonly LocatedObject[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads the objects of a YAML or JSON file as kubectl does. `file` is a name for messages. Does not throw. */
export function readObjects(text: string, file: string): ReadObjects {
  const { documents, syntaxErrors } = readBoundedDocuments(text, file, 'kubectl');
  if (syntaxErrors.length > 0)
    return { objects: [], diagnostics: arrangeDiagnostics(syntaxErrors) };
  const objects: LocatedObject[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const { value: document, source, warnings } of documents) {
    diagnostics.push(...warnings);
    for (const { value, path } of objectsIn(document)) {
      const found = problemsOf(value, path).map((finding) => locate(finding, source));
      diagnostics.push(...found);
      if (found.length > 0) continue;
      objects.push({ object: value as KubeObject, pointer: path, source });
    }
  }
  return { objects, diagnostics: arrangeDiagnostics(diagnostics) };
}

function objectsIn(document: Json) {
  const isList = isJsonObject(document) && document.kind === 'List';
  return isList && Array.isArray(document.items)
    ? itemsAt(document, '/items')
    : [{ value: document as unknown, path: '' }];
}

/** An object needs these to be sent to a server at all. */
function problemsOf(value: unknown, path: string): readonly Finding[] {
  if (!isJsonObject(value)) {
    const message = `Expected an object with "apiVersion", "kind" and "metadata", found ${describeFound(value)}`;
    return [{ code: 'wrong-type', path, message }];
  }
  const metadata = isJsonObject(value.metadata) ? value.metadata : {};
  return [
    ...textProblem(value, 'apiVersion', path),
    ...textProblem(value, 'kind', path),
    ...textProblem(metadata, 'name', value.metadata === undefined ? path : `${path}/metadata`),
  ];
}

function textProblem(map: JsonObject, field: string, path: string): readonly Finding[] {
  const value = map[field];
  if (typeof value === 'string' && value !== '') return [];
  const name = field === 'name' ? 'metadata.name' : field;
  if (value === undefined || value === null || value === '')
    return [{ code: 'missing-field', path, message: `Missing field "${name}"` }];
  const message = `Expected a string, found ${describeFound(value)}`;
  const isScalar = typeof value !== 'object';
  return [
    {
      code: 'wrong-type',
      path: pointerTo(path, field),
      message,
      hint: isScalar ? `Quote it: "${value}"` : undefined,
    },
  ];
}
