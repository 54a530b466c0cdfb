// A soft shadow on the ground: the object seen from below, blurred. It is drawn again only when the object moves.

import * as THREE from "three";
import { BLUR, GROUND, SHADOW } from "./shaders.js";

const SIDE = 160; // pixels: it is blurred anyway
const REACH = 1.6; // half the side of the square on the ground

// three draws what is transparent last; the ground is drawn first, so it blends by itself.
const BEHIND = {
  blending: THREE.CustomBlending,
  blendSrc: THREE.SrcAlphaFactor,
  blendDst: THREE.OneMinusSrcAlphaFactor,
  blendSrcAlpha: THREE.OneFactor,
  blendDstAlpha: THREE.OneMinusSrcAlphaFactor,
};

const raw = (vertexShader, fragmentShader, uniforms, more = {}) =>
  new THREE.ShaderMaterial({ glslVersion: THREE.GLSL3, vertexShader, fragmentShader, uniforms, ...more });

export class Shadow {
  constructor() {
    const target = () => new THREE.WebGLRenderTarget(SIDE, SIDE, { depthBuffer: true });
    [this.sharp, this.half] = [target(), target()];
    this.scene = new THREE.Scene();
    this.camera = new THREE.OrthographicCamera(REACH, -REACH, REACH, -REACH, 0.01, 6);
    this.camera.up.set(0, 1, 0); // from below left is right, hence the sides the other way round
    this.uniforms = { ground: { value: -1 }, splat: { value: 5 } };
    this.blur = raw(BLUR.vertex, BLUR.fragment, { image: { value: null }, along: { value: new THREE.Vector2() } }, { depthTest: false, depthWrite: false });
    this.screen = new THREE.Mesh(new THREE.PlaneGeometry(2, 2), this.blur);
    this.screen.frustumCulled = false;
    this.looks = {
      image: { value: this.sharp.texture },
      floorColour: { value: new THREE.Color() },
      floorStrength: { value: 0.5 },
      shadowColour: { value: new THREE.Color() },
      shadowStrength: { value: 0.4 },
    };
    this.plane = new THREE.Mesh(
      new THREE.PlaneGeometry(2 * REACH, 2 * REACH),
      raw(GROUND.vertex, GROUND.fragment, this.looks, { ...BEHIND, depthWrite: false, depthTest: false, side: THREE.DoubleSide }),
    );
    this.plane.renderOrder = -10;
  }

  // The same geometry, in the shadow's own material.
  cast(geometry, source, uniforms, points) {
    this.scene.clear();
    const material = raw(SHADOW.vertex(source, points), SHADOW.fragment, { ...uniforms, ...this.uniforms }, { side: THREE.DoubleSide });
    const body = points ? new THREE.Points(geometry, material) : new THREE.Mesh(geometry, material);
    body.frustumCulled = false;
    this.scene.add(body);
  }

  look({ floor, floorStrength, shadow, shadowStrength }) {
    this.looks.floorColour.value.setStyle(floor, THREE.LinearSRGBColorSpace);
    this.looks.shadowColour.value.setStyle(shadow, THREE.LinearSRGBColorSpace);
    this.looks.floorStrength.value = floorStrength;
    this.looks.shadowStrength.value = shadowStrength;
  }

  draw(renderer, ground) {
    this.uniforms.ground.value = ground;
    this.plane.position.z = ground;
    this.camera.position.set(0, 0, ground - 0.5);
    this.camera.lookAt(0, 0, 5);
    const clear = renderer.getClearAlpha();
    renderer.setClearAlpha(0);
    renderer.setRenderTarget(this.sharp);
    renderer.clear();
    renderer.render(this.scene, this.camera);
    this.smooth(renderer, this.sharp, this.half, 1.4 / SIDE, 0);
    this.smooth(renderer, this.half, this.sharp, 0, 1.4 / SIDE);
    renderer.setRenderTarget(null);
    renderer.setClearAlpha(clear);
  }

  smooth(renderer, from, to, x, y) {
    this.blur.uniforms.image.value = from.texture;
    this.blur.uniforms.along.value.set(x, y);
    renderer.setRenderTarget(to);
    renderer.clear();
    renderer.render(this.screen, this.camera);
  }
}
