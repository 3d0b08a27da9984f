import type { DefinitionManifest } from '../../check/index.ts';
import { type Diagnostic, printOrderedYaml, readBoundedDocuments } from '../../definition/index.ts';
import { gvkKey, gvkOf } from '../../util/gvk.ts';
import { isJsonObject, type JsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { type Construct, ImportReport } from './import-report.ts';
import type { ImportedDefinition, Importer, SourceDocument } from './importer.ts';
import { createKroImporter } from './kro/kro-importer.ts';

/** The result for one document of the source. */
export interface ImportResult {
  /** The file, the format, and the name of the document. */
  readonly file: string;
  readonly format: string;
  readonly name: string;
  /** What became of each construct, by position. */
  readonly constructs: readonly Construct[];
  /** Undefined: the document has nothing that could run. */
  readonly imported?: ImportedDefinition & { readonly text: string };
  /** Resources of its kind in the files, which need no conversion. */
  readonly samples: readonly KubeObject[];
}

export interface ImportedFiles {
  readonly results: readonly ImportResult[];
  /** Documents that are neither of a known format nor resources of a converted kind. */
  readonly ignored: readonly SourceDocument[];
  /** Syntax errors; nothing of such a file is converted. */
  readonly syntaxErrors: readonly Diagnostic[];
}

function createImporters(): readonly Importer[] {
  return [createKroImporter()];
}

/** Names of the formats that can be converted. */
export function importedFormats(): readonly string[] {
  return createImporters().map(({ format }) => format);
}

/** Converts documents of other formats to definitions. Does not throw for errors in the files. */
export function importFiles(files: readonly DefinitionManifest[]): ImportedFiles {
  const importers = createImporters();
  const parsed = files.map(({ text, file }) => readBoundedDocuments(text, file));
  const documents = parsed
    .filter(({ syntaxErrors }) => syntaxErrors.length === 0)
    .flatMap((each) => each.documents)
    .flatMap(({ value, source }) => (isJsonObject(value) ? [{ value, source }] : []));
  const results: Omit<ImportResult, 'samples'>[] = [];
  const others: SourceDocument[] = [];
  for (const document of documents) {
    const importer = importers.find((each) => each.accepts(document.value));
    if (importer === undefined) {
      others.push(document);
      continue;
    }
    const report = new ImportReport(document.source);
    const imported = importer.convert(document, report);
    results.push({
      file: document.source.file,
      format: importer.format,
      name: nameOf(document.value),
      constructs: report.constructs,
      ...(imported && { imported: { ...imported, text: printOrderedYaml(imported.definition) } }),
    });
  }
  const isResource = ({ imported }: Omit<ImportResult, 'samples'>, { value }: SourceDocument) =>
    imported !== undefined && gvkKey(imported.kind) === kindOf(value);
  return {
    results: results.map((result) => ({
      ...result,
      samples: others.flatMap((each) =>
        isResource(result, each) ? [each.value as unknown as KubeObject] : [],
      ),
    })),
    ignored: others.filter((each) => !results.some((result) => isResource(result, each))),
    syntaxErrors: parsed.flatMap(({ syntaxErrors }) => syntaxErrors),
  };
}

function nameOf({ metadata }: JsonObject): string {
  return isJsonObject(metadata) ? String(metadata.name ?? '') : '';
}

function kindOf({ apiVersion, kind }: JsonObject): string {
  return gvkKey(gvkOf(String(apiVersion), String(kind)));
}
