import type { DefinitionManifest } from '#check';
import { type Diagnostic, printOrderedYaml, readBoundedDocuments } from '#definition';
import { gvkKey, gvkOf } from '#util/gvk.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { withExactIntegers } from './convert/exact-integers.ts';
import { createCrossplaneImporter } from './crossplane/crossplane-importer.ts';
import type { Construct } from './import-report.ts';
import type { ImportedDefinition, Importer, SourceDocument } from './importer.ts';
import { createKroImporter } from './kro/kro-importer.ts';
import { createMetacontrollerImporter } from './metacontroller/metacontroller-importer.ts';

/** The result for one definition. */
export interface ImportResult {
  /** The file, the format, and the name of the document. */
  readonly file: string;
  readonly format: string;
  readonly name: string;
  /** What became of each construct, by position. */
  readonly constructs: readonly Construct[];
  /** Undefined: the document has nothing that could run. */
  readonly imported?: ImportedDefinition & { readonly text: string };
  /** Resources of the files for it. */
  readonly samples: readonly KubeObject[];
}

export interface ImportedFiles {
  readonly results: readonly ImportResult[];
  /** Documents that are neither of a known format nor resources of a converted kind. */
  readonly ignored: readonly SourceDocument[];
  /** Documents of answers that are no request with its response, or not for a parent of a converted kind. */
  readonly unusedAnswers: readonly SourceDocument[];
  /** Warnings about values of the files, also of answers. */
  readonly warnings: readonly Diagnostic[];
  /** Syntax errors, also of answers; nothing of such a file is converted. */
  readonly syntaxErrors: readonly Diagnostic[];
}

function createImporters(): readonly Importer[] {
  return [createKroImporter(), createCrossplaneImporter(), createMetacontrollerImporter()];
}

/** Names of the formats that can be converted. */
export function importedFormats(): readonly string[] {
  return createImporters().flatMap(({ tool, kinds }) => kinds.map((kind) => `${tool} ${kind}`));
}

/**
 * Converts documents of other formats to definitions. Does not throw for errors in the files.
 * @param answers files with recorded answers of hooks
 */
export function importFiles(
  files: readonly DefinitionManifest[],
  { answers: answerFiles = [] }: { readonly answers?: readonly DefinitionManifest[] } = {},
): ImportedFiles {
  const { documents, ...found } = readDocuments(files);
  const { documents: answers, ...foundInAnswers } = readDocuments(answerFiles);
  const conversions = createImporters().flatMap((importer) =>
    importer.convert(documents, { answers }).map((each) => ({ ...each, tool: importer.tool })),
  );
  const used = new Set(conversions.flatMap(({ document, parts = [] }) => [document, ...parts]));
  const results = conversions.map(({ document, report, imported, tool }): ImportResult => {
    const samples = documents.flatMap((each) => {
      const sample = used.has(each) ? undefined : sampleOf(each.value, imported);
      return sample === undefined ? [] : [[each, sample] as const];
    });
    for (const [each] of samples) used.add(each);
    return {
      file: document.source.file,
      format: `${tool} ${String(document.value.kind)}`,
      name: nameOf(document.value),
      constructs: report.constructs,
      ...(imported && { imported: { ...imported, text: textOf(imported) } }),
      samples: withRecorded(
        samples.map(([, sample]) => sample),
        imported,
      ),
    };
  });
  return {
    results,
    ignored: documents.filter((each) => !used.has(each)),
    unusedAnswers: answers.filter((each) => !used.has(each)),
    warnings: [...found.warnings, ...foundInAnswers.warnings],
    syntaxErrors: [...found.syntaxErrors, ...foundInAnswers.syntaxErrors],
  };
}

/** The documents of the files without a syntax error. */
function readDocuments(files: readonly DefinitionManifest[]) {
  const parsed = files.map(({ text, file }) => readBoundedDocuments(text, file, 'kubectl'));
  const readable = parsed
    .filter(({ syntaxErrors }) => syntaxErrors.length === 0)
    .flatMap((each) => each.documents);
  const documents = readable.flatMap(({ value, source }): SourceDocument[] =>
    isJsonObject(value) ? [{ value, source }] : [],
  );
  return {
    documents,
    warnings: readable.flatMap(({ warnings }) => warnings),
    syntaxErrors: parsed.flatMap(({ syntaxErrors }) => syntaxErrors),
  };
}

/** Also the resources for which it is known what the source creates. */
function withRecorded(
  samples: readonly KubeObject[],
  imported: ImportedDefinition | undefined,
): readonly KubeObject[] {
  const names = new Set(samples.map(({ metadata }) => metadata.name));
  const more = (imported?.recorded ?? []).map(({ parent }) => parent);
  return [...samples, ...more.filter(({ metadata }) => !names.has(metadata.name))];
}

function sampleOf(
  document: JsonObject,
  imported: ImportedDefinition | undefined,
): KubeObject | undefined {
  if (imported?.sampleOf !== undefined) return imported.sampleOf(document);
  const { apiVersion, kind } = document;
  const isResource =
    imported !== undefined &&
    gvkKey(imported.kind) === gvkKey(gvkOf(String(apiVersion), String(kind)));
  return isResource ? (document as unknown as KubeObject) : undefined;
}

/** The manifest, with comments where something is left to do. */
function textOf({ definition, todos = new Map() }: ImportedDefinition): string {
  const lines = printOrderedYaml(withExactIntegers(definition)).split('\n');
  return lines
    .flatMap((line) => {
      const [, indent = '', id = ''] = /^(\s+)(?:- id: (\w+)$|)/.exec(line) ?? [];
      const [, field = ''] = /^ {2}(\w+):/.exec(line) ?? [];
      const todo: string | undefined = todos.get(id === '' ? field : id);
      return todo === undefined ? [line] : [`${indent}# TODO: ${todo}`, line];
    })
    .join('\n');
}

function nameOf({ metadata }: JsonObject): string {
  return isJsonObject(metadata) ? String(metadata.name ?? '') : '';
}
