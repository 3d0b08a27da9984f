import type { ContractCase } from '../driver/index.ts';
import { daemonSetCases } from './daemon-sets.ts';
import { jobRuns } from './job-runs.ts';
import { rollouts } from './rollouts.ts';
import { statefulSetCases } from './stateful-sets.ts';

/** Cases that need controllers, by what they are about; the kubelet is played by the driver. */
export const controllerCases: Readonly<Record<string, readonly ContractCase[]>> = {
  rollouts,
  'stateful-sets': statefulSetCases,
  'job-runs': jobRuns,
  'daemon-sets': daemonSetCases,
};
