// Button that draws an SVG on a canvas and downloads it as PNG, at twice its size for print.

export default function ({ parentElement, data }) {
  const button = parentElement.querySelector("button.png");
  button.textContent = data.label;
  button.onclick = () => {
    const image = new Image();
    image.onload = () => {
      const canvas = document.createElement("canvas");
      canvas.width = 2 * image.width;
      canvas.height = 2 * image.height;
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => {
        const link = document.createElement("a");
        link.href = URL.createObjectURL(blob);
        link.download = data.name;
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 10000);
      });
    };
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(data.svg);
  };
}
