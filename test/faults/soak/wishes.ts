import type { SeededRandom } from '../../support/model/seeded-random.ts';
import { applyStubbornly, type Place, pathOfResource, resourceOf, settingsOf } from '../subject.ts';

/** What users want of one resource; undefined: that it is not there. */
export interface Wish {
  readonly greeting: string;
  readonly parts: readonly string[];
}

/** What users want of everything, as data: compared, copied, and applied anywhere. */
export interface Wishes {
  readonly settings: string;
  readonly resources: Readonly<Record<string, Wish | undefined>>;
}

export const resourceNames: readonly string[] = Array.from({ length: 12 }, (_, i) => `r${i}`);
const words = ['hello', 'good day', 'hi', 'welcome'];
const partNames = ['u', 'v', 'w', 'x', 'y', 'z'];

export function randomWish(random: SeededRandom): Wish {
  const parts = partNames.filter(() => random.chance(0.5));
  return { greeting: random.pick(words) ?? '', parts };
}

/** Wants a resource otherwise, or no more. */
export function withWish(wishes: Wishes, name: string, wish: Wish | undefined): Wishes {
  return { ...wishes, resources: { ...wishes.resources, [name]: wish } };
}

/** Makes the resources of a place as users want them, whatever they are now. */
export async function fulfil(place: Place, { settings, resources }: Wishes): Promise<void> {
  await applyStubbornly(place.client, settingsOf(place, settings));
  await Promise.all(
    Object.entries(resources).map(([name, wish]) =>
      wish === undefined
        ? place.client.delete(pathOfResource(place, name))
        : applyStubbornly(place.client, resourceOf(place, name, wish)),
    ),
  );
}

/** Children that are wanted, by `<plural>/<name>`. */
export function wantedChildren({ resources }: Wishes): ReadonlySet<string> {
  const keys = Object.entries(resources).flatMap(([name, wish]) =>
    wish === undefined
      ? []
      : [
          `configmaps/${name}`,
          `deployments/${name}`,
          ...wish.parts.map((part) => `configmaps/${name}-${part}`),
        ],
  );
  return new Set(keys);
}
