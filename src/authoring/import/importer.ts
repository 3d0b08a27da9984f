import type { SourceMap } from '#definition';
import type { Gvk } from '#util/gvk.ts';
import type { JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { ImportReport } from './import-report.ts';

/** A document of a file, with the positions of its parts. */
export interface SourceDocument {
  readonly value: JsonObject;
  readonly source: SourceMap;
}

/** A definition made of documents of another format. */
export interface ImportedDefinition {
  readonly name: string;
  /** The kind that it serves. */
  readonly kind: Gvk;
  /** The manifest of the OperatorDefinition. */
  readonly definition: JsonObject;
  /** A resource of the source as a resource of the definition. Undefined: it is none. @default resources of the kind, as they are */
  readonly sampleOf?: (document: JsonObject) => KubeObject | undefined;
  /** Objects of the source that the definition reads. */
  readonly given?: readonly KubeObject[];
  /** What the source creates for a resource, where that is known. */
  readonly recorded?: readonly {
    readonly parent: KubeObject;
    readonly objects: readonly KubeObject[];
  }[];
  /** What is left to do, by the id of a child or the name of a field of `spec`: a comment above it. */
  readonly todos?: ReadonlyMap<string, string>;
}

/** What became of the documents of one definition. */
export interface Conversion {
  /** The document that gives the result its name. */
  readonly document: SourceDocument;
  /** Other documents that it is made of, or that are not needed any more. */
  readonly parts?: readonly SourceDocument[];
  readonly report: ImportReport;
  /** Undefined: there is nothing that could run. */
  readonly imported?: ImportedDefinition | undefined;
}

export interface ImportOptions {
  /** Recorded answers of hooks. */
  readonly answers: readonly SourceDocument[];
}

/** Converts one format. To add a format, add its importer to the list in `import-files.ts`. */
export interface Importer {
  /** `kro` */
  readonly tool: string;
  /** What it converts: `ResourceGraphDefinition`. */
  readonly kinds: readonly string[];
  /** Converts what it knows of these documents, with every construct in a report. */
  convert(documents: readonly SourceDocument[], options: ImportOptions): readonly Conversion[];
}
