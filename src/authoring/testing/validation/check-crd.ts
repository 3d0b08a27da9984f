import { causesOf, crdDiagnostics } from '#check';
import type { Diagnostic, LocatedDefinition } from '#definition';
import type { JsonObject } from '#util/json.ts';
import { type CheckServer, crdPath } from './check-server.ts';

/** What the server rejects in a definition's CRD, with the place in the definition. Empty for a definition of an existing kind. */
export function checkCrd(
  { definition, source }: LocatedDefinition,
  server: CheckServer,
): readonly Diagnostic[] {
  const { kind } = definition;
  if (kind.source !== 'crd') return [];
  const judgement = server.judge(crdPath, kind.crd as unknown as JsonObject);
  return judgement.isAccepted ? [] : crdDiagnostics(causesOf(judgement.body), source);
}
