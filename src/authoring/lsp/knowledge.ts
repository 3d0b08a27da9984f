import {
  builtinDocuments,
  bundledSchemas,
  bundledVersions,
  documentNode,
  type JsonSchema,
  type KindSchema,
  type LanguageName,
  languageNames,
  listReadIds,
  loadBuiltinDescriptions,
  resourceSchema,
  type SchemaLibrary,
  type SchemaNode,
  type SchemaSource,
  schemaNode,
} from '#compile';
import {
  definitionSchema,
  type OperatorDefinition,
  operatorFuzzSchema,
  operatorTestSchema,
  type ServedKind,
} from '#definition';
import { httpKinds } from '#http-objects/kinds/index.ts';
import { clusterKind } from '#simulation';
import { type Gvk, gvkKey, gvkOf } from '#util/gvk.ts';
import type { DocumentKind, ParsedText } from './parsed-text.ts';

const formats: Readonly<Record<Exclude<DocumentKind, 'Object'>, JsonSchema>> = {
  OperatorDefinition: definitionSchema,
  OperatorTest: operatorTestSchema,
  OperatorFuzz: operatorFuzzSchema,
};

/** Kinds that the runtime serves. */
const ownKinds = [clusterKind, ...httpKinds] as const;

/** Its `apiVersion`, `kind` and `metadata` are described as those of any kind. */
const configMap = 'io.k8s.api.core.v1.ConfigMap';

/** The schemas of Homeostat's own formats, of the built-in kinds, and of the kinds of definitions. */
export class KindSchemas {
  readonly #schemas: SchemaSource = bundledSchemas();
  readonly #descriptions: NonNullable<SchemaLibrary['descriptions']>;
  /** Kinds of definitions by {@link gvkKey}. */
  readonly #served: ReadonlyMap<string, ServedKind>;

  private constructor(
    descriptions: NonNullable<SchemaLibrary['descriptions']>,
    served: readonly ServedKind[],
  ) {
    this.#descriptions = descriptions;
    this.#served = new Map(
      served.filter(({ source }) => source === 'crd').map((kind) => [gvkKey(kind.gvk), kind]),
    );
  }

  /** Only the built-in kinds. */
  static async load(): Promise<KindSchemas> {
    return new KindSchemas(await loadBuiltinDescriptions(), []);
  }

  /** With the kinds of these definitions. */
  withServed(served: readonly ServedKind[]): KindSchemas {
    return new KindSchemas(this.#descriptions, served);
  }

  /** The format of a document of Homeostat. */
  format(kind: Exclude<DocumentKind, 'Object'>): SchemaNode {
    return documentNode(formats[kind]);
  }

  /** The resources of a kind, also of the kinds of Homeostat. Undefined: the kind is not known. */
  find(gvk: Gvk): SchemaNode | undefined {
    const served = this.#served.get(gvkKey(gvk));
    if (served !== undefined) return this.served(served);
    const own = ownKinds.find((each) => gvkKey(gvk) === gvkKey(each.gvk));
    if (own !== undefined) return documentNode(own.schema());
    const schema = this.#schemas.schemaFor(gvk);
    return schema && this.#nodeOf(schema);
  }

  /** The kind of a reference such as `Deployment/web`: that of a definition, or the built-in one in its latest version. */
  named(name: string): SchemaNode | undefined {
    const served = [...this.#served.values()].find(({ gvk }) => gvk.kind === name);
    if (served !== undefined) return this.served(served);
    const own = ownKinds.find(({ gvk }) => gvk.kind === name);
    return this.find(own?.gvk ?? gvkOf(bundledVersions(name).at(-1) ?? '', name));
  }

  /** The ids of the reads of a definition whose value is a list. */
  listReads(definition: OperatorDefinition): ReadonlySet<string> {
    return listReadIds(definition, this.#schemas);
  }

  /** Whether a definition serves a kind of this API group. */
  servesGroup(group: string): boolean {
    return [...this.#served.values()].some(({ gvk }) => gvk.group === group);
  }

  /** The resources of a definition. */
  served(kind: ServedKind): SchemaNode {
    const schema = resourceSchema(kind, this.#schemas);
    if (kind.source === 'for') return this.#nodeOf(schema);
    const { properties = {} } = this.#descriptions[configMap] ?? {};
    const own = { [schema.root]: { properties } };
    return this.#nodeOf(schema, Object.assign(Object.create(this.#descriptions), own));
  }

  /** All `apiVersion`s with a known kind. */
  apiVersions(): readonly string[] {
    return [...new Set(this.#all().map(({ apiVersion }) => apiVersion))].sort();
  }

  /** Names of the kinds of an `apiVersion`; of all without one. */
  kinds(apiVersion: string | undefined): readonly string[] {
    const found = this.#all().filter(
      (each) => apiVersion === undefined || each.apiVersion === apiVersion,
    );
    return [...new Set(found.map(({ kind }) => kind))].sort();
  }

  #all() {
    const http = httpKinds.map(({ gvk }) => gvkKey(gvk));
    const keys = [...this.#served.keys(), ...http, ...Object.keys(builtinDocuments().roots)];
    return keys.map((key) => {
      const slash = key.lastIndexOf('/');
      return { apiVersion: key.slice(0, slash), kind: key.slice(slash + 1) };
    });
  }

  #nodeOf({ root, components }: KindSchema, descriptions = this.#descriptions): SchemaNode {
    return schemaNode(
      { $ref: `#/components/schemas/${root}` },
      { prefix: '#/components/schemas/', schemas: components, descriptions },
    );
  }
}

/** What the answers need besides the text. It does not change. */
export interface Knowledge {
  readonly kinds: KindSchemas;
  readonly names: readonly LanguageName[];
}

/** Takes about 20 ms, for the descriptions of built-in kinds. */
export async function loadKnowledge(): Promise<Knowledge> {
  return { kinds: await KindSchemas.load(), names: languageNames() };
}

/** With the kinds of the definitions in these texts. */
export function withTexts(knowledge: Knowledge, texts: readonly ParsedText[]): Knowledge {
  const served = texts.flatMap(({ documents }) =>
    documents.flatMap(({ parts }) => (parts === undefined ? [] : [parts.definition.kind])),
  );
  return { ...knowledge, kinds: knowledge.kinds.withServed(served) };
}
