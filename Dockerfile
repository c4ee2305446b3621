# The service, with all that its workers need: docker build -t millwright . (docs/operating.md, "As a container").
# The files and packages of the image are those of scripts/image-root.sh, which CI runs. It reads the lines ENV, ENTRYPOINT,
# CMD, USER and HEALTHCHECK here.
ARG NODE_IMAGE=node:20-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /src
# First the packages, so that a change of the sources does not install them again.
COPY package.json package-lock.json ./
COPY packages/sdk/package.json packages/sdk/
COPY packages/cli/package.json packages/cli/
COPY console/package.json console/
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build && scripts/image-root.sh lay /out

FROM ${NODE_IMAGE}
COPY scripts/image-root.sh /tmp/image-root.sh
RUN apt-get update \
  && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $(/tmp/image-root.sh packages) \
  && rm -rf /var/lib/apt/lists/* /tmp/image-root.sh \
  && groupadd --gid 10001 millwright \
  && useradd --uid 10001 --gid 10001 --home-dir /data --no-create-home --shell /usr/sbin/nologin millwright \
  && install -d -o 10001 -g 10001 -m 700 /data \
  && ln -s /app/dist/cli.js /usr/local/bin/millwright
COPY --from=build /out /app
WORKDIR /app
# Nothing but /data is written to, and a few pipes in /tmp: run it with --read-only --tmpfs /tmp.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
USER 10001:10001
VOLUME ["/data"]
EXPOSE 3000
# The port opens when all is ready. The first boot of a large upgrade takes as long as its migrations.
HEALTHCHECK --interval=10s --timeout=5s --start-period=120s CMD ["node", "/app/deploy/image/health.mjs"]
# tini hands on signals, and removes the dead processes of commands.
ENTRYPOINT ["/usr/bin/tini", "--"]
CMD ["node", "dist/main.js"]
