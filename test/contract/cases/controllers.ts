import type { ContractCase } from '../driver/index.ts';
import { rollouts } from './rollouts.ts';

/** Cases that need controllers, by what they are about; the kubelet is played by the driver. */
export const controllerCases: Readonly<Record<string, readonly ContractCase[]>> = {
  rollouts,
};
