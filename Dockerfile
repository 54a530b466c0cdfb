# The explorer for one machine: `docker compose up`. docs/deployment.md says how it meets a class.
#
# TORCH_BACKEND chooses PyTorch's build: cpu, or a CUDA such as cu130 for a machine with an NVIDIA GPU.
# BASE is pinned by its digest; docs/deployment.md says where it is from, and how a newer one is taken.
ARG BASE=python:3.11-slim@sha256:9c900dea9e8fb7e16277c179b555cc72d29a352dbc33cff48ad5a0412fd5bfc7

FROM ${BASE} AS build
ARG TORCH_BACKEND=cpu
ENV VIRTUAL_ENV=/opt/venv PATH=/opt/tools/bin:$PATH UV_NO_CACHE=1 UV_COMPILE_BYTECODE=1
RUN python3 -m venv /opt/tools \
    && /opt/tools/bin/pip install --no-cache-dir --disable-pip-version-check uv==0.13.7 \
    && python3 -m venv --without-pip /opt/venv
WORKDIR /srv/tpc
# Packages first: they change seldom, and their layer is kept while the code changes.
COPY pyproject.toml requirements.lock ./
RUN uv pip install --no-deps --require-hashes -r requirements.lock \
    && uv pip install ${TORCH_BACKEND:+--torch-backend=$TORCH_BACKEND} -r pyproject.toml \
    && find /opt/venv -type d \( -name tests -o -name include \) -path '*/torch/*' -prune -exec rm -rf {} +
COPY . .
# plotly.js and the thumbnails are put in place now: the running container writes to /tmp and /var/lib/tpc alone.
RUN uv pip install --no-deps --no-build-isolation -e . \
    && /opt/venv/bin/python -c "from app.server.static_files import prepare_static; prepare_static()" \
    && /opt/venv/bin/python -m compileall -q app tpc_core \
    && mkdir -p data

FROM ${BASE}
# The libraries that Open3D renders stills with; app/server/system.py looks for the same ones.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends libegl1 libgl1 libgomp1 libx11-6 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --no-create-home --home-dir /tmp explorer \
    && install --directory --owner=10001 /var/lib/tpc
COPY --from=build /opt/venv /opt/venv
COPY --from=build /srv/tpc /srv/tpc
WORKDIR /srv/tpc
ENV PATH=/opt/venv/bin:$PATH \
    HOME=/tmp \
    TPC_CACHE=/tmp/tpc-explorer \
    TPC_RUNS=/var/lib/tpc \
    PYTHONDONTWRITEBYTECODE=1 \
    GOMP_SPINCOUNT=0 \
    STREAMLIT_SERVER_ADDRESS=0.0.0.0 \
    STREAMLIT_SERVER_HEADLESS=true \
    STREAMLIT_SERVER_FILE_WATCHER_TYPE=none \
    STREAMLIT_BROWSER_SERVER_ADDRESS=localhost \
    STREAMLIT_SERVER_BASE_URL_PATH=""
USER 10001
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-m", "app.server.health"]
CMD ["python", "-m", "streamlit", "run", "app/main.py"]
