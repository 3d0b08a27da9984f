/**
 * Modules that Homeostat cannot reach, by name and by the package that imports them: 1.1 MB of a package that may have 14 MB. In time and memory
 * they cost nothing that can be measured. Whatever still calls one fails; the smoke test logs in by each way that there is.
 */
const modules = [
  // The generated client: of client-node we use reading kubeconfig files and logging in. Tokens of OIDC providers are ours.
  {
    name: /^(?:\.\/gen\/index\.js|\.\/middleware\.js|openid-client|socks|socks-proxy-agent)$/,
    importer: /client-node[\\/]dist[\\/]\w+\.js$/,
  },
  // No body of a request is read: it brings the character sets of the world.
  { name: /^body-parser$/, importer: /[\\/]express[\\/]lib[\\/]/ },
];

/** Puts a module without exports in the place of each. */
export function leftOutPlugin() {
  const namespace = 'left-out';
  return {
    name: namespace,
    setup(build) {
      for (const { name, importer } of modules)
        build.onResolve({ filter: name }, ({ path, importer: from }) =>
          importer.test(from) ? { path, namespace } : undefined,
        );
      build.onLoad({ filter: /./, namespace }, () => ({ contents: 'module.exports = {};' }));
    },
  };
}
