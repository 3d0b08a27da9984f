import {
  definitionApiVersion,
  definitionKind,
  operatorFuzzKind,
  operatorTestKind,
  warningCodes,
} from '#definition';
import type { KindSchemas } from './knowledge.ts';
import { childOf, type ParsedDocument, valueAtSteps } from './parsed-text.ts';

/** Values that the schema of a field does not list: API versions, kinds, ids of children, codes of warnings. */
export function suggestedValues(
  document: ParsedDocument,
  steps: readonly string[],
  kinds: KindSchemas,
): readonly string[] {
  const field = steps.at(-1) ?? '';
  if (document.kind === 'Object') {
    return steps.length === 1 ? valuesOfReference(document, steps, kinds) : [];
  }
  if (steps.length === 1 && field === 'apiVersion') return [definitionApiVersion];
  if (steps.length === 1 && field === 'kind')
    return [definitionKind, operatorTestKind, operatorFuzzKind];
  const parent = steps.at(-2) ?? '';
  if (/^spec\/acceptedWarnings\/\d+\/code$/.test(steps.join('/'))) return warningCodes;
  if (parent === 'after' || /\/after\/\d+\/child$/.test(steps.join('/')))
    return idsOfSiblings(document, steps);
  if (/^spec\/children\/\d+\/kinds\/\d+$/.test(steps.join('/'))) return versionedKinds(kinds);
  return isKindReference(steps) ? valuesOfReference(document, steps, kinds) : [];
}

/** The values of `apiVersion` and `kind` of an object. */
function valuesOfReference(
  document: ParsedDocument,
  steps: readonly string[],
  kinds: KindSchemas,
): readonly string[] {
  const field = steps.at(-1);
  if (field === 'apiVersion') return kinds.apiVersions();
  if (field !== 'kind') return [];
  const apiVersion = valueAtSteps(document.value, [...steps.slice(0, -1), 'apiVersion']);
  return kinds.kinds(typeof apiVersion === 'string' ? apiVersion : undefined);
}

/** `apps/v1/Deployment` */
function versionedKinds(kinds: KindSchemas): readonly string[] {
  const versions = kinds.apiVersions();
  return versions.flatMap((version) => kinds.kinds(version).map((kind) => `${version}/${kind}`));
}

/** Whether `apiVersion` and `kind` at the end of a path name a kind of the cluster. */
function isKindReference(steps: readonly string[]): boolean {
  const [, section = ''] = steps;
  const parent = steps.slice(0, -1).join('/');
  return (
    ['template', 'target', 'for'].includes(steps.at(-2) ?? '') ||
    /^spec\/(?:reads|given)\/\d+$/.test(parent) ||
    (section === 'steps' && /\/(?:apply(?:\/\d+)?|object|absent)$/.test(parent))
  );
}

/** The children that a child can wait for. */
function idsOfSiblings(document: ParsedDocument, steps: readonly string[]): readonly string[] {
  const { children = [], install = [], onDelete } = document.parts?.definition ?? {};
  const ofResource = steps.includes('onDelete') ? (onDelete?.children ?? []) : children;
  const others = steps[1] === 'install' ? install : ofResource;
  const { child } = childOf(document.parts, steps) ?? {};
  return others.map(({ id }) => id).filter((id) => id !== child?.id);
}
