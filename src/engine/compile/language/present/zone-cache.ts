import { type TimeZone, timeZoneOf } from '#util/zoned-time.ts';

/** Clocks of all zones are changed at a quarter of an hour. */
export const quarterMs = 900_000;
const mostZones = 20;
const mostOffsets = 2_000;

/** Time zones, with the differences to UTC that were looked up: the platform needs long for each. */
export class ZoneCache {
  readonly #zones = new Map<string, TimeZone | undefined>();

  /** Undefined: the platform knows no such time zone. */
  of(name: string): TimeZone | undefined {
    if (this.#zones.has(name)) return this.#zones.get(name);
    if (this.#zones.size >= mostZones) this.#zones.clear();
    const zone = timeZoneOf(name);
    const known = zone && withKnownOffsets(zone);
    this.#zones.set(name, known);
    return known;
  }
}

function withKnownOffsets(zone: TimeZone): TimeZone {
  const offsets = new Map<number, number>();
  return {
    offsetMs(timeMs) {
      const startMs = Math.floor(timeMs / quarterMs) * quarterMs;
      // What is no time has no offset.
      if (Number.isNaN(startMs)) return Number.NaN;
      const known = offsets.get(startMs);
      if (known !== undefined) return known;
      if (offsets.size >= mostOffsets) offsets.clear();
      const offsetMs = zone.offsetMs(startMs);
      offsets.set(startMs, offsetMs);
      return offsetMs;
    },
  };
}
