import type { SourceMap } from '../../definition/index.ts';
import type { Gvk } from '../../util/gvk.ts';
import type { JsonObject } from '../../util/json.ts';
import type { ImportReport } from './import-report.ts';

/** A document of a file, with the positions of its parts. */
export interface SourceDocument {
  readonly value: JsonObject;
  readonly source: SourceMap;
}

/** A definition made of a document of another format. */
export interface ImportedDefinition {
  readonly name: string;
  /** The kind that it serves. Resources of the source are resources of the definition. */
  readonly kind: Gvk;
  /** The manifest of the OperatorDefinition. */
  readonly definition: JsonObject;
}

/** Converts one format. To add a format, add its importer to the list in `import-files.ts`. */
export interface Importer {
  /** `kro ResourceGraphDefinition` */
  readonly format: string;
  accepts(document: JsonObject): boolean;
  /** Adds each construct of the document to the report. Undefined: there is nothing to run. */
  convert(document: SourceDocument, report: ImportReport): ImportedDefinition | undefined;
}
