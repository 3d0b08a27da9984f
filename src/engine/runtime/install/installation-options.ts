import type { OwnPart } from '#util/stored-names.ts';
import type { OwnObjects } from '../objects/own-object-informer.ts';
import type { SharedOptions } from '../runner-options.ts';
import type { ViewListener } from '../view-change-notifier.ts';
import { createDefinitionViewCluster } from './definition-view-cluster.ts';
import { createInstallLogger } from './install-logger.ts';

/** Of the objects of one part of a definition. */
export interface InstallationOptions extends SharedOptions {
  /** Name of the definition. */
  readonly name: string;
  readonly part: OwnPart;
  readonly objects: OwnObjects;
  readonly listener: ViewListener;
}

interface OperatorUse {
  /** Whether the objects are deleted, not kept. */
  readonly isRemoved: boolean;
  /** Called when no object is left. */
  readonly onReleased: () => void;
}

/** What an operator of these objects is created with: the definition is its resource. */
export function operatorOptions(
  options: InstallationOptions,
  { isRemoved, onReleased }: OperatorUse,
) {
  const { name, part, cluster, listener, logger, ...shared } = options;
  return {
    ...shared,
    logger: createInstallLogger(logger, name),
    cluster: createDefinitionViewCluster({ cluster, name, part, isRemoved, onReleased }),
    onWatchState: () => listener.counted(),
  };
}
