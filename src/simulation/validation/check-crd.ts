import { type Diagnostic, type LocatedDefinition, locate } from '../../definition/index.ts';
import { type JsonObject, pointerTo } from '../../util/json.ts';
import { type CheckServer, crdPath } from './check-server.ts';
import { causesOf, rejection } from './rejection.ts';

/** What the server rejects in a definition's CRD, with the place in the definition. Empty for a definition of an existing kind. */
export function checkCrd(
  { definition, source }: LocatedDefinition,
  server: CheckServer,
): readonly Diagnostic[] {
  const { kind } = definition;
  if (kind.source !== 'crd') return [];
  const judgement = server.judge(crdPath, kind.crd as unknown as JsonObject);
  if (judgement.isAccepted) return [];
  return causesOf(judgement.body).map(({ field, message }) => {
    const path = pointerOf(field);
    return locate({ code: 'invalid-crd', path, ...rejection(message) }, source);
  });
}

/**
 * The place in the definition of a field of its CRD, whose `spec` is written in `spec.crd`. The server names the schema of the only version
 * `spec.validation`.
 */
function pointerOf(field: string): string {
  const steps = field
    .replace(/^spec\.validation\b/, 'spec.versions[0].schema')
    .replace(/^spec\b/, '')
    .split(/\.|\[|\]/)
    .filter((step) => step !== '');
  return steps.reduce(pointerTo, '/spec/crd');
}
