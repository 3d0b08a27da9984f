import packageJson from '../../package.json' with { type: 'json' };

/** The released version, from `package.json`. */
export const version: string = packageJson.version;
