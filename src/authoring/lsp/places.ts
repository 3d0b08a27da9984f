import { fieldsOf, nodeOfFields, type SchemaNode, stepInto } from '#compile';
import { gvkOf } from '#util/gvk.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { KindSchemas } from './knowledge.ts';
import { childOf, type ParsedDocument, valueAtSteps } from './parsed-text.ts';

/** Where a document contains the manifest of another kind. */
const manifests: Readonly<Partial<Record<ParsedDocument['kind'], RegExp>>> = {
  OperatorDefinition: /^spec\/(?:(?:onDelete\/)?children|install)\/\d+\/template$/,
  OperatorTest:
    /^spec\/(?:given\/\d+|steps\/\d+\/(?:apply(?:\/\d+)?|expect\/\d+\/(?:object|absent)))$/,
  OperatorFuzz: /^spec\/given\/\d+$/,
};

/** What a document may contain at the end of a path. Undefined: not known. */
export function schemaAt(
  document: ParsedDocument,
  steps: readonly string[],
  kinds: KindSchemas,
): SchemaNode | undefined {
  let node =
    document.kind === 'Object'
      ? (schemaOfKind(document.value, kinds) ?? anyManifest(kinds))
      : kinds.format(document.kind);
  for (const [index, step] of steps.entries()) {
    node = node && stepInto(node, step);
    node = foreignSchema(document, steps.slice(0, index + 1), kinds) ?? node;
  }
  return node;
}

/** The manifest that contains the end of a path, with the rest of the path. Undefined: none does. */
export function manifestAt(
  document: ParsedDocument,
  steps: readonly string[],
): { readonly manifest: JsonObject; readonly steps: readonly string[] } | undefined {
  const at =
    document.kind === 'Object'
      ? 0
      : steps.findIndex((_, index) =>
          manifests[document.kind]?.test(steps.slice(0, index).join('/')),
        );
  if (at < 0) return undefined;
  const manifest = valueAtSteps(document.value, steps.slice(0, at));
  return isJsonObject(manifest) ? { manifest, steps: steps.slice(at) } : undefined;
}

/** The schema of another kind that begins at a path: of a manifest, of the status, of a patch. */
function foreignSchema(
  document: ParsedDocument,
  steps: readonly string[],
  kinds: KindSchemas,
): SchemaNode | undefined {
  const path = steps.join('/');
  if (manifests[document.kind]?.test(path)) {
    const manifest = valueAtSteps(document.value, steps);
    // Objects are listed, or there is one.
    if (Array.isArray(manifest)) return undefined;
    return (
      schemaOfKind(manifest, kinds) ?? schemaOfChoice(document, steps, kinds) ?? anyManifest(kinds)
    );
  }
  if (document.kind === 'OperatorTest') return referencedSchema(document, steps, kinds);
  if (document.kind !== 'OperatorDefinition') return undefined;
  if (path === 'spec/status') return statusSchema(document, kinds);
  if (!/^spec\/patches\/\d+\/patch$/.test(path)) return undefined;
  const target = valueAtSteps(document.value, [...steps.slice(0, -1), 'target']);
  return target === undefined ? servedSchema(document, kinds) : schemaOfKind(target, kinds);
}

/** In a test, the fields of the object of a reference: of `patch.merge`, and of `status.is` in an expectation. */
function referencedSchema(
  document: ParsedDocument,
  steps: readonly string[],
  kinds: KindSchemas,
): SchemaNode | undefined {
  const path = steps.join('/');
  const isPatch = /^spec\/steps\/\d+\/patch\/merge$/.test(path);
  const isStatus = /^spec\/steps\/\d+\/expect\/\d+\/status\/is$/.test(path);
  if (!isPatch && !isStatus) return undefined;
  const field = isPatch ? 'target' : 'of';
  const reference = valueAtSteps(document.value, [...steps.slice(0, -1), field]);
  const object = kinds.named(String(reference).split('/')[0] ?? '');
  return isPatch ? object : object && fieldsOf(object).get('status');
}

/** The schema of the kind that `apiVersion` and `kind` of a value name. Undefined: it is not known. */
function schemaOfKind(value: unknown, kinds: KindSchemas): SchemaNode | undefined {
  if (!isJsonObject(value)) return undefined;
  const { apiVersion, kind } = value;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return undefined;
  return kinds.find(gvkOf(apiVersion, kind));
}

/** The schema of the first kind that the template of a child may choose. Undefined: its kind is literal. */
function schemaOfChoice(
  document: ParsedDocument,
  steps: readonly string[],
  kinds: KindSchemas,
): SchemaNode | undefined {
  const { child } = childOf(document.parts, steps) ?? {};
  return child?.kinds === undefined ? undefined : kinds.find(child.gvk);
}

/** The schema of the resources of a definition. */
export function servedSchema(document: ParsedDocument, kinds: KindSchemas): SchemaNode | undefined {
  return document.parts && kinds.served(document.parts.definition.kind);
}

/** What each object has, before its kind is written. */
function anyManifest(kinds: KindSchemas): SchemaNode | undefined {
  const configMap = kinds.find({ group: '', version: 'v1', kind: 'ConfigMap' });
  if (configMap === undefined) return undefined;
  const common = [...fieldsOf(configMap)].filter(([name]) =>
    ['apiVersion', 'kind', 'metadata'].includes(name),
  );
  return nodeOfFields(new Map(common));
}

function statusSchema(document: ParsedDocument, kinds: KindSchemas): SchemaNode | undefined {
  const served = servedSchema(document, kinds);
  return served && fieldsOf(served).get('status');
}
