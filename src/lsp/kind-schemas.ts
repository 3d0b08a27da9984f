import {
  type BuiltinDocuments,
  builtinDocuments,
  bundledKinds,
  bundledSchemas,
  type KindSchema,
  loadBuiltinDescriptions,
  resourceSchema,
  type SchemaSource,
} from '../compile/index.ts';
import {
  definitionSchema,
  operatorFuzzSchema,
  operatorTestSchema,
  type ServedKind,
} from '../definition/index.ts';
import type { Gvk } from '../util/gvk.ts';
import type { DocumentKind } from './parsed-text.ts';
import { type JsonSchema, type SchemaLibrary, type SchemaNode, schemaNode } from './schema-node.ts';

const formats: Readonly<Record<DocumentKind, JsonSchema>> = {
  OperatorDefinition: definitionSchema,
  OperatorTest: operatorTestSchema,
  OperatorFuzz: operatorFuzzSchema,
};

/** The schemas of Homeostat's own formats, of the built-in kinds, and of the kinds of definitions. */
export class KindSchemas {
  readonly #schemas: SchemaSource = bundledSchemas();
  readonly #descriptions: NonNullable<SchemaLibrary['descriptions']>;
  readonly #roots: BuiltinDocuments['roots'] = builtinDocuments().roots;

  private constructor(descriptions: NonNullable<SchemaLibrary['descriptions']>) {
    this.#descriptions = descriptions;
  }

  static async load(): Promise<KindSchemas> {
    return new KindSchemas(await loadBuiltinDescriptions());
  }

  /** The format of a document of Homeostat. */
  format(kind: DocumentKind): SchemaNode {
    const schema = formats[kind];
    const schemas = (schema.$defs ?? {}) as SchemaLibrary['schemas'];
    return schemaNode(schema, { prefix: '#/$defs/', schemas });
  }

  /** A built-in kind. */
  builtin(gvk: Gvk): SchemaNode | undefined {
    const schema = this.#schemas.schemaFor(gvk);
    return schema && this.#nodeOf(schema);
  }

  /** The kind of a definition. */
  served(kind: ServedKind): SchemaNode {
    return this.#nodeOf(resourceSchema(kind, this.#schemas));
  }

  /** The `apiVersion`s of the built-in kinds. */
  apiVersions(): readonly string[] {
    const versions = Object.keys(this.#roots).map((key) => key.slice(0, key.lastIndexOf('/')));
    return [...new Set(versions)];
  }

  /** Names of the built-in kinds of an `apiVersion`; of all without one. */
  kinds(apiVersion: string | undefined): readonly string[] {
    const versions = apiVersion === undefined ? this.apiVersions() : [apiVersion];
    return [...new Set(versions.flatMap(bundledKinds))];
  }

  #nodeOf({ root, components }: KindSchema): SchemaNode {
    return schemaNode(
      { $ref: `#/components/schemas/${root}` },
      { prefix: '#/components/schemas/', schemas: components, descriptions: this.#descriptions },
    );
  }
}
