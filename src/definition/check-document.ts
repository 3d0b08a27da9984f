import { didYouMean } from '../util/did-you-mean.ts';
import { isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import { found } from './describe-value.ts';
import type { Finding } from './finding.ts';
import { allRules } from './rules/all-rules.ts';
import { checkPastedCrd, isWholeCrd } from './rules/pasted-crd.ts';
import { definitionApiVersion, definitionKind } from './schema/definition-schema.ts';
import type { SchemaCheck } from './schema/schema-findings.ts';
import { fieldOf, valueAt } from './tree.ts';

/** All mistakes of one document: those of the schema first, and no second one at the same place. */
export function checkDocument(document: Json, checkSchema: SchemaCheck): readonly Finding[] {
  if (!isJsonObject(document)) {
    const message = `Expected a map, found ${found(document)}`;
    return [{ code: 'wrong-type', path: '', message }];
  }
  const stranger = checkStranger(document);
  if (stranger !== undefined) return [stranger];

  const isPasted = isWholeCrd(valueAt(document, '/spec/crd'));
  const rules = isPasted ? [checkPastedCrd, ...allRules] : allRules;
  const findings = [...checkSchema(document), ...rules.flatMap((rule) => [...rule(document)])];
  const relevant = isPasted
    ? findings.filter(({ path }) => !path.startsWith('/spec/crd/'))
    : findings;
  return firstOfEachPath(relevant);
}

/** A document of another kind altogether, or of none; a mistyped kind is left to the schema. */
export function checkStranger(document: Json): Finding | undefined {
  if (!isJsonObject(document)) return undefined;
  const hint = `Only documents with "apiVersion: ${definitionApiVersion}" and "kind: ${definitionKind}" belong here`;
  const kind = fieldOf(document, 'kind');
  if (isNoObject(document)) {
    const message = `Expected a definition, found a document without "apiVersion" and "kind"`;
    return { code: 'missing-field', path: '', message, hint };
  }
  if (typeof kind !== 'string' || didYouMean(kind, [definitionKind]) !== undefined)
    return undefined;
  const message = `Expected "${definitionKind}", found ${found(kind)}`;
  return { code: 'invalid-value', path: '/kind', message, hint };
}

/** A file of something else than Kubernetes: values of a chart, a compose file. */
function isNoObject(document: JsonObject): boolean {
  return !['apiVersion', 'kind', 'spec'].some((field) => Object.hasOwn(document, field));
}

function firstOfEachPath(findings: readonly Finding[]): readonly Finding[] {
  const seen = new Set<string>();
  return findings.filter(({ path }) => {
    const isFirst = !seen.has(path);
    seen.add(path);
    return isFirst;
  });
}
