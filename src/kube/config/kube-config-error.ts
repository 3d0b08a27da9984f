import { HomeostatError } from '../../util/homeostat-error.ts';

/**
 * Why there is no way to a cluster, told to the person at the command line: a file or a context is not there
 * (`not-found`), it does not make sense (`invalid`), or it asks for what we cannot do (`unsupported`).
 */
export class KubeConfigError extends HomeostatError<'invalid' | 'not-found' | 'unsupported'> {}
