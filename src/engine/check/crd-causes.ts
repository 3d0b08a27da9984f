import { type Diagnostic, locate, type SourceMap } from '#definition';
import { pointerTo } from '#util/json.ts';
import { rejectionFinding } from './server-rejection.ts';

/** One reason of an API server to reject a CRD. */
interface CrdCause {
  /** `spec.versions[0].schema.openAPIV3Schema.type`. @default undefined: the server names none */
  readonly field?: string;
  readonly message: string;
}

/** The reasons of an API server to reject the CRD of a definition, with their places in the definition. Pure. */
export function crdDiagnostics(
  causes: readonly CrdCause[],
  source: SourceMap,
): readonly Diagnostic[] {
  return causes.map(({ field = '', message }) =>
    locate({ code: 'invalid-crd', path: pointerOf(field), ...rejectionFinding(message) }, source),
  );
}

/**
 * The place in the definition of a field of its CRD, whose `spec` is written in `spec.crd`. The server names the schema of the only version
 * `spec.validation`, and the conversion webhook by the fields of its internal form.
 */
function pointerOf(field: string): string {
  const steps = field
    .replace(/^\./, '')
    .replace(/^spec\.validation\b/, 'spec.versions[0].schema')
    .replace(/^spec\.conversion\.webhookClientConfig\b/, 'spec.conversion.webhook.clientConfig')
    .replace(/^spec\.conversion\.(?=conversionReviewVersions\b)/, 'spec.conversion.webhook.')
    .replace(/^spec\b/, '')
    .split(/\.|\[|\]/)
    .filter((step) => step !== '');
  return steps.reduce(pointerTo, '/spec/crd');
}
