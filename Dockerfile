# The image of `homeostat run`: the bundle and a Node, nothing else. No shell is needed, nothing is written when it runs.
#   docker build -t registry.example.com/homeostat:0.1.0 .
# For builds that can be repeated bit by bit name the base by its digest: --build-arg NODE_IMAGE=node:24-slim@sha256:...
ARG NODE_IMAGE=node:24-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /src
# First what changes seldom: the packages are a layer of their own.
COPY package.json package-lock.json ./
COPY scripts/ensure-installed.mjs scripts/install-node.mjs scripts/
RUN npm ci --no-audit --no-fund
COPY tsconfig.json ./
COPY scripts scripts
COPY src src
RUN npm run build

FROM ${NODE_IMAGE}
ARG VERSION=0.1.0
ARG REVISION=
LABEL org.opencontainers.image.title="homeostat" \
      org.opencontainers.image.description="Operators for Kubernetes without code" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
# The young generation is sized when Node starts (docs/decisions/0005); without these the process would start once more.
ENV NODE_ENV=production \
    NODE_OPTIONS=--max-semi-space-size=4 \
    MALLOC_ARENA_MAX=1
WORKDIR /homeostat
COPY LICENSE package.json ./
COPY --from=build /src/dist dist
# Nobody: a number, so that the kubelet can tell that it is not root.
USER 65532:65532
EXPOSE 8080
ENTRYPOINT ["node", "/homeostat/dist/homeostat.mjs"]
CMD ["--help"]
