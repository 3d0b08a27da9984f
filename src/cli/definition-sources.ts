import type { DefinitionManifest } from '#check';
import type { Watcher } from '#kube';
import {
  createConfigMapSource,
  createDirectorySource,
  createStaticSource,
  type DefinitionSource,
} from '#runtime';
import type { Logger } from '#telemetry';
import type { Clock } from '#util/clock.ts';
import { assertNever } from '#util/homeostat-error.ts';
import { standardInput } from './load-manifests.ts';
import type { SourceKind } from './source-flags.ts';

interface DefinitionSourcesOptions {
  readonly kinds: readonly SourceKind[];
  /** Directories and files, as the user wrote them. */
  readonly paths: readonly string[];
  /** Manifests that were read at the start: standard input can be read only once. */
  readonly manifests: readonly DefinitionManifest[];
  readonly cluster: Watcher;
  /** Of ConfigMaps. */
  readonly namespace: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The sources of a process, in the order in which they are asked. */
export function createSources(options: DefinitionSourcesOptions): readonly DefinitionSource[] {
  return options.kinds.flatMap((kind) => sourcesOf(kind, options));
}

function sourcesOf(
  kind: SourceKind,
  { paths, manifests, cluster, namespace, clock, logger }: DefinitionSourcesOptions,
): readonly DefinitionSource[] {
  switch (kind) {
    case 'configmaps':
      return [createConfigMapSource({ cluster, namespace })];
    // What users make as objects needs no publisher.
    case 'objects':
      return [];
    case 'directories': {
      const given = manifests.filter(({ file }) => file === standardInput.file);
      const named = paths.filter((path) => path !== standardInput.path);
      return [
        ...given.map(createStaticSource),
        ...named.map((path) => createDirectorySource({ path, clock, logger })),
      ];
    }
    default:
      return assertNever(kind);
  }
}
