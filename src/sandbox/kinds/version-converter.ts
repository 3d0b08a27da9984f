import { HomeostatError } from '#util/homeostat-error.ts';
import type { JsonObject } from '#util/json.ts';

/** Converts objects between the versions of a CRD, as its webhook does. */
export interface VersionConverter {
  /** Objects that were converted before need the webhook, too. @throws ConversionError */
  assertReachable(object: JsonObject): void;
  /** The object in another version, with its `apiVersion`. @throws ConversionError */
  convert(object: JsonObject, apiVersion: string): JsonObject;
}

/** A conversion that fails, with the server's message. */
export class ConversionError extends HomeostatError<'unconverted'> {
  constructor({ apiVersion, kind }: JsonObject, detail: string) {
    super('unconverted', `conversion webhook for ${apiVersion}, Kind=${kind} failed: ${detail}`);
  }
}
