import type { Watcher } from '../kube/index.ts';
import {
  createConfigMapSource,
  createDirectorySource,
  createObjectSource,
  createTextSource,
  type DefinitionSource,
  type DefinitionText,
} from '../runtime/index.ts';
import type { Logger } from '../telemetry/index.ts';
import { assertNever } from '../util/assert-never.ts';
import type { Clock } from '../util/clock.ts';
import { standardInput } from './load-texts.ts';
import type { SourceKind } from './source-flags.ts';

export interface DefinitionSourcesOptions {
  readonly kinds: readonly SourceKind[];
  /** Directories and files, as the user wrote them. */
  readonly paths: readonly string[];
  /** What was read at the start: standard input can be read only once. */
  readonly texts: readonly DefinitionText[];
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
  { paths, texts, cluster, namespace, clock, logger }: DefinitionSourcesOptions,
): readonly DefinitionSource[] {
  switch (kind) {
    case 'configmaps':
      return [createConfigMapSource({ cluster, namespace })];
    case 'objects':
      return [createObjectSource(cluster)];
    case 'directories': {
      const given = texts.filter(({ file }) => file === standardInput.file);
      const named = paths.filter((path) => path !== standardInput.path);
      return [
        ...given.map(createTextSource),
        ...named.map((path) => createDirectorySource({ path, clock, logger })),
      ];
    }
    default:
      return assertNever(kind);
  }
}
