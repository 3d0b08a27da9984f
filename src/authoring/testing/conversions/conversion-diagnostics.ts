import { type Diagnostic, type LocatedDefinition, locate } from '#definition';
import { type ConversionFailure, proveConversions } from './prove-conversions.ts';

/** Fewer than in `homeostat test`: an editor checks again after each pause. */
const objectsPerVersion = 60;

/** Longer objects are cut in messages. */
const mostCharacters = 400;

/**
 * The failures of the generated round-trip check as diagnostics, for a definition without other errors. Gives the event loop its turn every
 * few conversions. None when the signal is aborted meanwhile.
 */
export async function conversionDiagnostics(
  located: LocatedDefinition,
  signal: AbortSignal,
): Promise<readonly Diagnostic[]> {
  const proof = await proveConversions(located, { objectsPerVersion, signal });
  return (proof?.failures ?? []).map((failure) => {
    const { pointer: path, hint } = failure;
    const message = `${failure.message}: ${sidesOf(failure)}`;
    return locate({ code: 'invalid-value', path, message, hint }, located.source);
  });
}

function sidesOf({ object, converted }: ConversionFailure): string {
  const [before, after] = [object, converted].map((each) => {
    const text = JSON.stringify(each) ?? '';
    return text.length > mostCharacters ? `${text.slice(0, mostCharacters)}…` : text;
  });
  return converted === undefined ? `${before}` : `${before} becomes ${after}`;
}
