import { type LocatedDefinition, recordPositions } from '#definition';
import { isJsonObject } from '#util/json.ts';
import type { RecordedPlaces } from '../recorded-state.ts';

/** Encodes where a definition is written, once for each parsed manifest: it is asked for in each reconcile. */
export class PlacesRecorder {
  #last:
    | { readonly located: LocatedDefinition; readonly places: RecordedPlaces | undefined }
    | undefined;

  /** Undefined: it comes from an object, or has too many positions. */
  of(located: LocatedDefinition): RecordedPlaces | undefined {
    if (this.#last?.located !== located) this.#last = { located, places: placesOf(located) };
    return this.#last.places;
  }
}

function placesOf({ source, document }: LocatedDefinition): RecordedPlaces | undefined {
  if (source.isGenerated === true || !isJsonObject(document.spec)) return undefined;
  const positions = recordPositions(document.spec, source);
  return positions === undefined ? undefined : { file: source.file, positions };
}
